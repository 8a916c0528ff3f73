//! Conditions: they select the rows that count.

use std::cmp::Ordering;

use super::expression::Expression;
use crate::column::Cell;

/// Condition on a row; columns are indices into those that the query reads.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// Two numbers compare so; false if one is missing.
    Numbers(Expression, Comparison, Expression),
    /// A text or flag equals one in the list.
    OneOf(usize, Vec<String>),
    /// A text contains this, ignoring case.
    Contains(usize, String),
    Missing(usize),
}

/// Orders between two numbers that satisfy a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) less: bool,
    pub(super) equal: bool,
    pub(super) greater: bool,
}

impl Comparison {
    pub(super) const EQUAL: Comparison = Comparison {
        less: false,
        equal: true,
        greater: false,
    };

    /// Returns the comparison that a sign stands for.
    pub(super) fn of_sign(sign: &str) -> Option<Comparison> {
        let of = |less, equal, greater| Comparison {
            less,
            equal,
            greater,
        };
        Some(match sign {
            "=" => Comparison::EQUAL,
            "!=" => of(true, false, true),
            "<" => of(true, false, false),
            "<=" => of(true, true, false),
            ">" => of(false, false, true),
            ">=" => of(false, true, true),
            _ => return None,
        })
    }

    fn holds(self, left: f64, right: f64) -> bool {
        match left.partial_cmp(&right) {
            Some(Ordering::Less) => self.less,
            Some(Ordering::Equal) => self.equal,
            Some(Ordering::Greater) => self.greater,
            None => false,
        }
    }
}

impl Condition {
    /// Returns true if the condition holds for the row whose cells `cell` returns.
    pub(super) fn holds<'a>(&self, cell: &impl Fn(usize) -> Cell<'a>) -> bool {
        match self {
            Condition::All(parts) => parts.iter().all(|part| part.holds(cell)),
            Condition::Any(parts) => parts.iter().any(|part| part.holds(cell)),
            Condition::Not(part) => !part.holds(cell),
            Condition::Numbers(left, comparison, right) => {
                let value = |of: &Expression| of.value(&|leaf| cell(leaf).number());
                let sides = value(left).zip(value(right));
                sides.is_some_and(|(left, right)| comparison.holds(left, right))
            }
            Condition::OneOf(column, texts) => {
                let cell = cell(*column);
                // A missing cell's text is empty, and so may be the text that a query asks for.
                cell != Cell::Missing && texts.iter().any(|text| *text == cell.to_text())
            }
            Condition::Contains(column, text) => {
                let cell = cell(*column).text().map(str::to_lowercase);
                cell.is_some_and(|cell| cell.contains(&text.to_lowercase()))
            }
            Condition::Missing(column) => cell(*column) == Cell::Missing,
        }
    }
}
