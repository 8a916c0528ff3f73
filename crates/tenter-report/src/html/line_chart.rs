//! Lines over an axis, as SVG with a legend whose entries switch lines on and off.

use tenter_study::DASHES;

use super::scale::Scale;
use super::text::{Unit, add, escape, number};
use crate::drawings::DrawnLine;

/// Places of a chart in its drawing.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 1_084.0;
const TOP: f64 = 12.0;
/// Colours of lines in the style sheet; it has [`DASHES`] kinds of dashes.
const COLOURS: usize = 8;

/// Lines that share axes.
#[derive(Clone, Debug)]
pub(super) struct LineChart<'a> {
    /// A description for readers who do not see it.
    pub(super) title: &'a str,
    /// The quantities of the axes, without units.
    pub(super) x_label: &'a str,
    /// The same, upwards.
    pub(super) y_label: &'a str,
    /// Height of the drawing.
    pub(super) height: f64,
    /// Whether a line stays at a value until the next point.
    pub(super) steps: bool,
    /// This number of consecutive lines belongs together: they share a colour and differ by dashes.
    pub(super) family: usize,
    /// The lines, their points in base units.
    pub(super) lines: &'a [DrawnLine],
}

impl LineChart<'_> {
    /// Range of the horizontal axis.
    pub(super) const ACROSS: (f64, f64) = (LEFT, RIGHT);

    /// Range of the vertical axis.
    pub(super) fn upwards(height: f64) -> (f64, f64) {
        (height - 44.0, TOP)
    }

    /// Adds the drawing and its legend.
    pub(super) fn draw(&self, x: &Scale, y: &Scale, page: &mut String) {
        self.draw_with(x, y, "", page);
    }

    /// The same with marks over the lines, as SVG; a group with `data-of` is switched off with the
    /// line of that number.
    pub(super) fn draw_with(&self, x: &Scale, y: &Scale, marks: &str, page: &mut String) {
        let title = escape(self.title);
        let height = self.height;
        add(
            page,
            format_args!(
                "<figure class=\"chart\"><svg class=\"lines\" viewBox=\"0 0 1100 {height}\" role=\"img\" tabindex=\"0\" aria-label=\"{title}\" \
                 data-x=\"{} {} {} {} {}\" data-xu=\"{} {}\" data-yu=\"{} {}\" data-steps=\"{}\">",
                x.domain.0,
                x.domain.1,
                x.range.0,
                x.range.1,
                u8::from(x.log),
                x.unit.factor,
                x.unit.name,
                y.unit.factor,
                y.unit.name,
                u8::from(self.steps),
            ),
        );
        axes(self.x_label, x, self.y_label, y, height, page);
        for (index, line) in self.lines.iter().enumerate() {
            self.draw_line(index, line, x, y, page);
        }
        page.push_str(marks);
        let (bottom, top) = y.range;
        add(
            page,
            format_args!(
                "<line class=\"cursor\" y1=\"{top}\" y2=\"{bottom}\" x1=\"0\" x2=\"0\"/></svg>"
            ),
        );
        self.draw_legend(page);
        page.push_str("</figure>\n");
    }

    fn draw_line(&self, index: usize, line: &DrawnLine, x: &Scale, y: &Scale, page: &mut String) {
        let mut path = String::new();
        let mut values = String::new();
        for (i, &(a, b)) in line.points.iter().enumerate() {
            let (px, py) = (x.place(a), y.place(b));
            if i == 0 {
                add(&mut path, format_args!("M{px:.1} {py:.1}"));
            } else if self.steps {
                add(&mut path, format_args!("H{px:.1}V{py:.1}"));
            } else {
                add(&mut path, format_args!("L{px:.1} {py:.1}"));
            }
            let (a, b) = (plain(a / x.unit.factor), plain(b / y.unit.factor));
            add(&mut values, format_args!("{a},{b} "));
        }
        let (colour, dash) = self.style(index);
        add(
            page,
            format_args!(
                "<path class=\"line c{colour} d{dash}\" data-name=\"{}\" data-v=\"{}\" d=\"{path}\"/>",
                escape(&line.name),
                values.trim_end(),
            ),
        );
    }

    /// The colour and the dashes of a line.
    pub(super) fn style(&self, index: usize) -> (usize, usize) {
        let (family, member) = (index / self.family, index % self.family);
        (family % COLOURS, (family / COLOURS + member) % DASHES)
    }

    fn draw_legend(&self, page: &mut String) {
        page.push_str("<figcaption class=\"legend\">");
        for (index, line) in self.lines.iter().enumerate() {
            let (colour, dash) = self.style(index);
            add(
                page,
                format_args!(
                    "<button type=\"button\" aria-pressed=\"true\" data-line=\"{index}\"><svg viewBox=\"0 0 18 8\" aria-hidden=\"true\"><path class=\"line c{colour} d{dash}\" d=\"M0 4H18\"/></svg>{}</button>",
                    escape(&line.name)
                ),
            );
        }
        page.push_str("</figcaption>");
    }
}

/// The least and the greatest value of these lines, across and upwards.
pub(super) fn extent(lines: &[DrawnLine]) -> ((f64, f64), (f64, f64)) {
    let none = (f64::INFINITY, 0.0);
    let wider = |(least, most): (f64, f64), value| (f64::min(least, value), f64::max(most, value));
    let points = lines.iter().flat_map(|line| &line.points);
    points.fold((none, none), |(across, upwards), &(x, y)| {
        (wider(across, x), wider(upwards, y))
    })
}

/// A number as programs read it, short.
fn plain(value: f64) -> String {
    number(value, 5).replace(',', "")
}

/// Grid, numbers and labels of both axes.
pub(super) fn axes(
    x_label: &str,
    x: &Scale,
    y_label: &str,
    y: &Scale,
    height: f64,
    page: &mut String,
) {
    let ((left, right), (bottom, top)) = (x.range, y.range);
    page.push_str("<g class=\"axes\">");
    for (value, text) in y.ticks() {
        let at = y.place(value);
        let label = at + 4.0;
        let edge = left - 8.0;
        add(
            page,
            format_args!(
                "<path d=\"M{left} {at:.1}H{right}\"/><text x=\"{edge}\" y=\"{label:.1}\" text-anchor=\"end\">{text}</text>"
            ),
        );
    }
    x_axis(x, top, bottom, page);
    add(
        page,
        format_args!(
            "<text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            f64::midpoint(left, right),
            height - 6.0,
            axis_label(x_label, x)
        ),
    );
    add(
        page,
        format_args!(
            "<text class=\"label\" transform=\"translate(13 {}) rotate(-90)\" text-anchor=\"middle\">{}</text></g>",
            f64::midpoint(top, bottom),
            axis_label(y_label, y)
        ),
    );
}

/// Ticks and numbers of a horizontal axis below `bottom`.
pub(super) fn x_axis(x: &Scale, top: f64, bottom: f64, page: &mut String) {
    for (value, text) in x.ticks() {
        let at = x.place(value);
        let below = bottom + 17.0;
        add(
            page,
            format_args!(
                "<path d=\"M{at:.1} {top}V{bottom}\"/><text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{text}</text>"
            ),
        );
    }
}

/// The quantity of an axis, with its unit unless its numbers have theirs.
fn axis_label(label: &str, scale: &Scale) -> String {
    if scale.own.is_empty() {
        labelled(label, scale.unit)
    } else {
        escape(label)
    }
}

/// The quantity of an axis, with its unit.
pub(super) fn labelled(label: &str, unit: Unit) -> String {
    if unit.name.is_empty() {
        escape(label)
    } else {
        escape(&format!("{label} ({})", unit.name))
    }
}
