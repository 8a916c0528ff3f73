//! Axes: listed values, or a range from which a design lists or draws values.

use tenter_language::config::Written;
use tenter_language::units::{Bytes, Rate, Time};

use super::bundle;
use super::limits::SAMPLES_MAX;

/// Values that one axis takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Axis {
    /// Listed values, as settings write them.
    Listed(Vec<String>),
    /// A range without listed values, for designs that draw.
    Range(Range),
}

/// A range from which values are drawn; its ends are numbers in `unit`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Range {
    path: String,
    from: f64,
    to: f64,
    unit: String,
    log: bool,
    /// Draws are rounded to multiples of this step, counted from the lower end.
    step: Option<f64>,
}

/// Keys that a range may have; a message about another key lists them.
const KEYS: [&str; 6] = ["from", "to", "step", "factor", "count", "scale"];

impl Axis {
    /// Reads the values that the description gives for the axis `path`.
    ///
    /// # Errors
    /// Says what is wrong, and the remedy.
    pub(super) fn read(path: &str, written: &Written) -> Result<Axis, String> {
        let axis = match written {
            Written::List(items) => Axis::Listed(items.iter().map(Written::to_string).collect()),
            // An axis with named bundles has their names as values.
            named if bundle::named(named).is_some() => {
                let named = bundle::named(named).unwrap_or_default().iter();
                Axis::Listed(named.map(|(name, _)| name.clone()).collect())
            }
            Written::Map(keys) => {
                let read = Ends::read(path, keys).and_then(|ends| ends.axis(keys));
                read.map_err(|what| format!("the axis `{path}` {what}"))?
            }
            Written::Word(_) | Written::Text(_) => {
                return Err(format!(
                    "the axis `{path}` has one value; list several, `[1, 2]`, or give a range, `{{from: 1, to: 8, step: 1}}`"
                ));
            }
        };
        match &axis {
            Axis::Listed(values) if values.is_empty() => {
                Err(format!("the axis `{path}` has no value; list one at least"))
            }
            _ => Ok(axis),
        }
    }

    /// Returns all values on the axis.
    ///
    /// # Errors
    /// Fails if the axis is a range, which lists no values.
    pub(super) fn values(&self) -> Result<Vec<String>, String> {
        match self {
            Axis::Listed(values) => Ok(values.clone()),
            Axis::Range(range) if range.step.is_some() => Err(format!(
                "the axis `{}` has a `step` and `scale: log`, from which only designs that draw take values; write a `factor` or a `count` for the step, or leave `scale` out, or choose `design: latin-hypercube`",
                range.path
            )),
            Axis::Range(range) => Err(format!(
                "the axis `{}` is a range without a `step`, a `factor` or a `count`; add one, or choose `design: latin-hypercube`",
                range.path
            )),
        }
    }

    /// Returns the value at a random `place`: 64 random bits as a fraction of the axis.
    pub(super) fn at(&self, place: u64) -> String {
        match self {
            Axis::Listed(values) => values[scaled(place, values.len())].clone(),
            Axis::Range(range) => range.value(unit_interval(place)),
        }
    }

    /// Returns a random value from part number `part`, counted from 0, after cutting the axis into
    /// `parts` equal parts. `draw` returns 64 random bits.
    pub(super) fn within(
        &self,
        part: usize,
        parts: usize,
        draw: &mut dyn FnMut() -> u64,
    ) -> String {
        match self {
            Axis::Listed(values) => {
                values[scaled_within(part, parts, draw(), values.len())].clone()
            }
            Axis::Range(range) => range.value((part as f64 + unit_interval(draw())) / parts as f64),
        }
    }
}

/// Maps 64 random bits to a number below `count`, each with nearly equal probability.
pub(super) fn scaled(bits: u64, count: usize) -> usize {
    // Multiply and shift instead of a remainder: the bias stays below `count` / 2⁶⁴.
    ((u128::from(bits) * count as u128) >> 64) as usize
}

/// Maps 64 random bits to a number below `count` in part number `part` of `parts` equal parts.
fn scaled_within(part: usize, parts: usize, bits: u64, count: usize) -> usize {
    // `part` + `bits`/2⁶⁴ in fixed point: parts may cut a value in two, and both may then give it.
    let place = (part as u128) << 64 | u128::from(bits);
    ((place * count as u128 / parts as u128) >> 64) as usize
}

/// Maps 64 random bits to a number from 0 to below 1.
fn unit_interval(bits: u64) -> f64 {
    // A double has 53 bits of precision; rounding all 64 could give 1.
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

impl Range {
    /// Returns the value at `share`, from 0 at the lower end to 1 at the upper end.
    fn value(&self, share: f64) -> String {
        let value = between(self.from, self.to, self.log, share);
        let value = match self.step {
            Some(step) => {
                // Rounding to the nearest step must not leave the range. The small addend restores
                // a last step that binary fractions put just below a whole number.
                let most = ((self.to - self.from) / step + 1e-9).floor();
                self.from + step * ((value - self.from) / step).round().min(most)
            }
            None => return drawn(value, &self.unit),
        };
        let least = self.step.unwrap_or(self.from);
        format!("{}{}", shown(value, least), self.unit)
    }
}

/// Interpolates between two numbers, linearly or in their logarithm.
fn between(from: f64, to: f64, log: bool, share: f64) -> f64 {
    if log {
        from * (to / from).powf(share)
    } else {
        from + (to - from) * share
    }
}

/// Lower limit for magnitudes whose logarithm is taken, since 0 has none. Smaller numbers are shown
/// as 0.
const LEAST: f64 = 1e-100;

/// Formats a number from a range: rounded to whole bytes, picoseconds or bits per second if `unit`
/// is a multiple of one, else to six significant digits.
fn drawn(value: f64, unit: &str) -> String {
    let one = format!("1{unit}");
    let whole = |worth: u64| (value * worth as f64).round().max(0.0) as u64;
    if let Ok(worth) = one.parse::<Bytes>() {
        return Bytes::new(whole(worth.count())).to_string();
    }
    if let Ok(worth) = one.parse::<Time>() {
        return Time::from_ps(whole(worth.ps())).to_string();
    }
    if let Ok(worth) = one.parse::<Rate>() {
        return Rate::from_bits_per_second(whole(worth.bits_per_second())).to_string();
    }
    let digits = 6 - value.abs().max(LEAST).log10().ceil() as i32;
    let text = format!("{value:.*}", digits.max(0) as usize);
    format!("{}{unit}", without_zeros(&text))
}

/// A range's ends, in the lower end's unit, and the scale between them.
struct Ends<'k> {
    path: &'k str,
    from: f64,
    to: f64,
    /// The upper end in its own unit, as written.
    to_written: (f64, String),
    unit: String,
    log: bool,
}

impl<'k> Ends<'k> {
    /// Reads ends and scale for the axis `path`.
    ///
    /// # Errors
    /// Says what is wrong, as the rest of a sentence whose subject is the axis.
    fn read(path: &'k str, keys: &[(String, Written)]) -> Result<Ends<'k>, String> {
        let mut names = keys.iter().map(|(key, _)| key.as_str());
        if let Some(key) = names.find(|key| !KEYS.contains(key)) {
            return Err(format!(
                "has the key `{key}`; a range has `from`, `to`, `scale`, and `step`, `factor` or `count`"
            ));
        }
        let (from, unit) = needed(keys, "from")?;
        let (end, other) = needed(keys, "to")?;
        let to = in_unit(end, &other, &unit).ok_or_else(|| {
            format!("goes from `{unit}` to `{other}`; give both ends in units of one quantity")
        })?;
        if to < from {
            return Err("ends before it begins; exchange `from` and `to`".to_owned());
        }
        let log = match text(keys, "scale").as_deref() {
            None | Some("linear") => false,
            Some("log") => true,
            Some(other) => {
                return Err(format!("has `scale: {other}`; choose `linear` or `log`"));
            }
        };
        if log && from <= 0.0 {
            return Err("needs a positive `from` for `scale: log`".to_owned());
        }
        Ok(Ends {
            path,
            from,
            to,
            to_written: (end, other),
            unit,
            log,
        })
    }

    /// Reads `step`, `factor` or `count`, which exclude each other, and lists the values.
    fn axis(self, keys: &[(String, Written)]) -> Result<Axis, String> {
        let has = |name: &str| text(keys, name).is_some();
        match [has("step"), has("factor"), has("count")] {
            [false, false, false] => Ok(self.range(None)),
            [true, false, false] => {
                let step = self.step(keys)?;
                // Equal steps are not even in the logarithm, so only designs that draw take such a
                // range.
                if self.log {
                    return Ok(self.range(Some(step)));
                }
                self.listed(step, &|n| self.from + step * f64::from(n))
            }
            [false, true, false] => {
                let (factor, unit) = needed(keys, "factor")?;
                if factor <= 1.0 || self.from <= 0.0 || !unit.is_empty() {
                    return Err("needs a `factor` above 1 and a positive `from`".to_owned());
                }
                self.listed(self.from, &|n| self.from * factor.powi(n.cast_signed()))
            }
            [false, false, true] => self.counted(keys),
            _ => Err("needs one of `step`, `factor` and `count`, and not two".to_owned()),
        }
    }

    /// Reads `step`, converted to the lower end's unit.
    fn step(&self, keys: &[(String, Written)]) -> Result<f64, String> {
        let (step, unit) = needed(keys, "step")?;
        let step = in_unit(step, &unit, &self.unit);
        let step = step.filter(|step| *step > 0.0);
        step.ok_or_else(|| format!("needs a positive `step` in `{}`", self.unit))
    }

    /// Lists `count` values at even distances on the scale, both ends among them.
    fn counted(&self, keys: &[(String, Written)]) -> Result<Axis, String> {
        let count = text(keys, "count").and_then(|text| text.parse::<u32>().ok());
        let count = count.filter(|count| (2..=SAMPLES_MAX).contains(count));
        let count =
            count.ok_or_else(|| format!("needs a `count` of 2 or more, up to {SAMPLES_MAX}"))?;
        let share = |n: u32| f64::from(n) / f64::from(count - 1);
        let values = (0..count).map(|n| match n {
            // The ends as they were written, whatever logarithms make of them.
            0 => format!("{}{}", shown(self.from, self.from), self.unit),
            n if n == count - 1 => {
                let (to, unit) = &self.to_written;
                format!("{}{unit}", shown(*to, *to))
            }
            n => drawn(between(self.from, self.to, self.log, share(n)), &self.unit),
        });
        Ok(Axis::Listed(values.collect()))
    }

    /// Lists values up to the upper end; `next` gives the n-th one. Decimals show nine digits of a
    /// number as large as `least`.
    fn listed(&self, least: f64, next: &dyn Fn(u32) -> f64) -> Result<Axis, String> {
        // Sums of binary fractions may end just above the upper end, which belongs to the range.
        let most = self.to + 1e-9 * self.to.abs().max(least);
        let values = (0..=SAMPLES_MAX).map(next);
        let values = values.take_while(|value| *value <= most);
        let values = values.map(|value| format!("{}{}", shown(value, least), self.unit));
        let values: Vec<String> = values.collect();
        if values.len() > SAMPLES_MAX as usize {
            return Err(format!(
                "has more than {SAMPLES_MAX} values; take larger steps, or write a `count`"
            ));
        }
        Ok(Axis::Listed(values))
    }

    /// Keeps the range for designs that draw.
    fn range(self, step: Option<f64>) -> Axis {
        Axis::Range(Range {
            path: self.path.to_owned(),
            from: self.from,
            to: self.to,
            unit: self.unit,
            log: self.log,
            step,
        })
    }
}

/// Returns a key's text, if the key is given.
fn text(keys: &[(String, Written)], name: &str) -> Option<String> {
    let found = keys.iter().find(|(key, _)| key == name);
    found.map(|(_, value)| value.to_string())
}

/// Reads a key that a range must have, as number and unit.
fn needed(keys: &[(String, Written)], name: &str) -> Result<(f64, String), String> {
    let text = text(keys, name).ok_or_else(|| format!("lacks `{name}`"))?;
    let parsed = quantity(&text).map(|(number, unit)| (number, unit.to_owned()));
    parsed.ok_or_else(|| format!("has `{name}: {text}`, which is no number with a unit"))
}

/// Converts a quantity to another unit of the same kind; `None` if the units differ in kind.
fn in_unit(number: f64, unit: &str, other: &str) -> Option<f64> {
    if unit == other {
        return Some(number);
    }
    // A bare number parses as none of these quantities, so it converts to no unit.
    let (one, another) = (format!("1{unit}"), format!("1{other}"));
    let bytes = |text: &str| text.parse::<Bytes>().ok().map(Bytes::count);
    let time = |text: &str| text.parse::<Time>().ok().map(Time::ps);
    let rate = |text: &str| text.parse::<Rate>().ok().map(Rate::bits_per_second);
    let both = bytes(&one).zip(bytes(&another));
    let both = both.or_else(|| time(&one).zip(time(&another)));
    let (worth, of_other) = both.or_else(|| rate(&one).zip(rate(&another)))?;
    Some(number * worth as f64 / of_other as f64)
}

/// Splits a text into a finite number and its unit, which may be empty.
fn quantity(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-');
    let end = end.unwrap_or(text.len());
    let (number, unit) = text.split_at(end + exponent(&text[end..]));
    let number = number.parse().ok().filter(|of: &f64| of.is_finite())?;
    Some((number, unit.trim()))
}

/// Returns the length of the exponent with which `text` begins: 3 for `e-3s`, 0 for `EB`.
fn exponent(text: &str) -> usize {
    let Some(power) = text.strip_prefix(['e', 'E']) else {
        return 0;
    };
    let digits = power.strip_prefix(['+', '-']).unwrap_or(power);
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    match count {
        // `e` without digits begins a unit, not an exponent.
        0 => 0,
        count => text.len() - digits.len() + count,
    }
}

/// Formats a number so that nine digits of a number as large as `least` are shown, which drops the
/// digits that binary fractions add.
fn shown(value: f64, least: f64) -> String {
    let power = least.abs().max(LEAST).log10().floor() as i32;
    let decimals = (8 - power.min(-1)) as usize;
    without_zeros(&format!("{value:.decimals$}")).to_owned()
}

/// Removes trailing zeros from a decimal fraction, and a point without digits.
fn without_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}
