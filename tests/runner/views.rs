//! View operations, of maps and of programs alike.

use super::json::{Fault, Outcome, extents, integer, integers, items};
use lensor::Select;
use serde_json::Value;

/// A view operation with its arguments.
pub(crate) enum View {
    Transpose(Vec<usize>),
    Select(Vec<Select>),
    Broadcast(Vec<usize>),
    Rotate(Vec<isize>),
    Reshape(Vec<usize>),
}

impl View {
    /// The operation of that name, if it is one.
    pub(crate) fn of(op: &str, arguments: &[Value]) -> Outcome<Option<Self>> {
        let only = || one(op, arguments);
        Ok(Some(match op {
            "transpose" => Self::Transpose(extents(only()?)?),
            "select" => Self::Select(arguments.iter().map(selector).collect::<Outcome<_>>()?),
            "broadcast" => Self::Broadcast(extents(only()?)?),
            "rotate" => Self::Rotate(integers(only()?)?),
            "reshape" => Self::Reshape(extents(only()?)?),
            _ => return Ok(None),
        }))
    }
}

/// The view of an operand.
macro_rules! view {
    ($operand:expr, $view:expr) => {
        match $view {
            View::Transpose(order) => $operand.transpose(&order),
            View::Select(selectors) => $operand.select(selectors),
            View::Broadcast(shape) => $operand.broadcast(shape),
            View::Rotate(shifts) => $operand.rotate(&shifts),
            View::Reshape(shape) => $operand.reshape(shape),
        }
    };
}
pub(crate) use view;

/// The only argument of an operation.
pub(crate) fn one<'v>(op: &str, arguments: &'v [Value]) -> Outcome<&'v Value> {
    match arguments {
        [only] => Ok(only),
        _ => Err(Fault::vector(format!("{op} has {} arguments, not one", arguments.len()))),
    }
}

/// What is taken of an axis. In a range, `null` is an open end.
pub(crate) fn selector(value: &Value) -> Outcome<Select> {
    Ok(match value {
        Value::String(word) if word == "lla" => Select::Reverse,
        Value::String(word) if word == "all" => Select::All,
        Value::Number(_) => Select::Index(integer(value)?),
        Value::Array(_) => Select::List(extents(value)?),
        Value::Object(range) => {
            let bounds = range.get("range").map_or(Ok(&[][..]), items)?;
            let [start, stop, step] = bounds else {
                return Err(Fault::vector(format!("{value} is not a range")));
            };
            let end = |end: &Value| (!end.is_null()).then(|| integer(end)).transpose();
            Select::between(end(start)?, end(stop)?, integer(step)?)
        }
        other => return Err(Fault::vector(format!("unknown selector {other}"))),
    })
}
