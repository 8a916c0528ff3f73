//! Conditions on rows: `COLUMN OP VALUE`, parted by `;`.

use tenter_record::Kind;
use tenter_report::{ColumnValues, GroupColumn, TableColumn};

use crate::cells::{has, number};
use crate::error::ApiError;

/// A condition on a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    pub(crate) column: usize,
    operator: Operator,
    operand: Operand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Is,
    IsNot,
    Below,
    AtMost,
    Above,
    AtLeast,
    Contains,
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Number(f64),
    Text(String),
}

/// Longer ones first, since they begin like others.
const OPERATORS: [(&str, Operator); 7] = [
    ("!=", Operator::IsNot),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("=", Operator::Is),
    ("<", Operator::Below),
    (">", Operator::Above),
    ("~", Operator::Contains),
];

/// The most conditions of a request.
const CONDITIONS_MAX: usize = 32;

/// Reads conditions on the columns of a table.
pub(crate) fn conditions(text: &str, columns: &[TableColumn]) -> Result<Vec<Condition>, ApiError> {
    let parts = text.split(';').filter(|part| !part.trim().is_empty());
    let found = parts.map(|part| condition(part, columns));
    let found: Vec<Condition> = found.collect::<Result<_, _>>()?;
    if found.len() > CONDITIONS_MAX {
        return Err(ApiError::bad(format!(
            "there are {} conditions; give at most {CONDITIONS_MAX}",
            found.len()
        )));
    }
    Ok(found)
}

fn condition(text: &str, columns: &[TableColumn]) -> Result<Condition, ApiError> {
    let at = text.find(['=', '!', '<', '>', '~']);
    let split = at.map(|at| text.split_at(at));
    let known = split.and_then(|(name, rest)| {
        let mut operators = OPERATORS.iter();
        let found = operators.find_map(|(sign, of)| Some((*of, rest.strip_prefix(sign)?)));
        found.map(|(operator, operand)| (name.trim(), operator, operand))
    });
    let Some((name, operator, operand)) = known else {
        return Err(ApiError::bad(
            "a condition is not understood; write COLUMN=VALUE, or !=, <, <=, >, >=, ~ (contains) for =",
        ));
    };
    let Some(column) = columns.iter().position(|column| column.name == name) else {
        return Err(ApiError::bad(format!(
            "the table has no column `{name}`; its address without `where` lists them"
        )));
    };
    let operand = match columns[column].kind {
        Kind::Text => Operand::Text(operand.to_owned()),
        kind => {
            let number = match operand.trim() {
                "true" if kind == Kind::Flag => Some(1.0),
                "false" if kind == Kind::Flag => Some(0.0),
                text => text.parse::<f64>().ok().filter(|number| !number.is_nan()),
            };
            Operand::Number(number.ok_or_else(|| {
                ApiError::bad(format!(
                    "`{name}` is compared with what is no number; write one"
                ))
            })?)
        }
    };
    Ok(Condition {
        column,
        operator,
        operand,
    })
}

/// Whether a row fits; one without a value fits `!=` alone.
pub(crate) fn passes(condition: &Condition, column: &GroupColumn, row: usize) -> bool {
    let operator = condition.operator;
    if !has(column, row) {
        return operator == Operator::IsNot;
    }
    match (&condition.operand, &column.values) {
        (Operand::Text(text), ColumnValues::Text(values)) => {
            let value = values[row].as_str();
            match operator {
                Operator::Is => value == text,
                Operator::IsNot => value != text,
                Operator::Below => value < text.as_str(),
                Operator::AtMost => value <= text.as_str(),
                Operator::Above => value > text.as_str(),
                Operator::AtLeast => value >= text.as_str(),
                Operator::Contains => value.to_lowercase().contains(&text.to_lowercase()),
            }
        }
        (Operand::Number(against), _) => {
            let Some(value) = number(column, row) else {
                return false;
            };
            match operator {
                Operator::Is => value.total_cmp(against).is_eq(),
                Operator::IsNot => value.total_cmp(against).is_ne(),
                Operator::Below => value < *against,
                Operator::AtMost => value <= *against,
                Operator::Above => value > *against,
                Operator::AtLeast => value >= *against,
                Operator::Contains => value.to_string().contains(&against.to_string()),
            }
        }
        _ => false,
    }
}
