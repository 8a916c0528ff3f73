//! Sums, differences, products and ratios.

/// Expression over numbered leaves, which are columns or aggregates.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Number(f64),
    Leaf(usize),
    Negative(Box<Expression>),
    Of(Operator, Box<[Expression; 2]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Plus,
    Minus,
    Times,
    Over,
}

impl Expression {
    /// Returns true if the expression has no leaves.
    pub(super) fn is_constant(&self) -> bool {
        match self {
            Expression::Number(_) => true,
            Expression::Leaf(_) => false,
            Expression::Negative(of) => of.is_constant(),
            Expression::Of(_, sides) => sides.iter().all(Expression::is_constant),
        }
    }

    /// Returns the value; `None` if a leaf has none, or if it is not finite, as after a division by
    /// 0.
    pub(super) fn value(&self, leaf: &impl Fn(usize) -> Option<f64>) -> Option<f64> {
        let value = match self {
            Expression::Number(value) => *value,
            Expression::Leaf(place) => leaf(*place)?,
            Expression::Negative(of) => -of.value(leaf)?,
            Expression::Of(operator, sides) => {
                let [left, right] = [sides[0].value(leaf)?, sides[1].value(leaf)?];
                match operator {
                    Operator::Plus => left + right,
                    Operator::Minus => left - right,
                    Operator::Times => left * right,
                    Operator::Over => left / right,
                }
            }
        };
        value.is_finite().then_some(value)
    }
}

impl Operator {
    /// Returns the result's unit, or an error if the two units do not add up.
    pub(super) fn unit(self, left: &str, right: &str) -> Result<String, String> {
        Ok(match (self, left, right) {
            (Operator::Plus | Operator::Minus, left, right) if left == right => left.to_owned(),
            (Operator::Plus | Operator::Minus, left, right) => {
                let named = |unit: &str| match unit {
                    "" => "a plain number".to_owned(),
                    unit => unit.to_owned(),
                };
                return Err(format!(
                    "{} and {} do not add up",
                    named(left),
                    named(right)
                ));
            }
            (_, left, "") => left.to_owned(),
            (Operator::Over, left, right) if left == right => String::new(),
            (Operator::Over, left, right) => format!("{left}/{right}"),
            (Operator::Times, "", right) => right.to_owned(),
            (Operator::Times, left, right) => format!("{left}·{right}"),
        })
    }
}
