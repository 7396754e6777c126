//! Programs on ragged operands. Each operation is evaluated by itself, views stay views of what they show.

mod compute;
pub(crate) mod cores;
mod values;
mod views;

use super::json::{Fault, Outcome};
use super::refusal;
use super::results::Tolerance;
use lensor::ragged::Stretch;
use serde_json::{Map, Value};
use values::{Layout, Operand, Typed};

/// Runs a vector, once for each way to lay out rows.
pub(crate) fn check(vector: &Value) -> Outcome<()> {
    Layout::ALL.into_iter().try_for_each(|layout| {
        let found = match laid_out(vector, layout) {
            Err(Fault::Outside(_)) if vector["expect"].get("error").is_some() => return Ok(()),
            Err(Fault::Refused(error)) => refusal::judged(Err(*error), &vector["expect"]),
            Err(fault) => Err(fault),
            Ok(()) => refusal::judged(Ok(()), &vector["expect"]),
        };
        found.map_err(|fault| Fault::vector(format!("{fault} (rows by {layout:?})")))
    })
}

fn laid_out(vector: &Value, layout: Layout) -> Outcome<()> {
    let none = || Fault::vector("there are no inputs");
    let inputs = vector["inputs"].as_object().ok_or_else(none)?;
    let stretch = match vector.get("stretch") {
        None => Stretch::Rows,
        Some(strict) if strict == "strict" => Stretch::Strict,
        Some(other) => return Err(Fault::vector(format!("unknown stretch {other}"))),
    };
    let expected = &vector["expect"];
    let mut dtypes = inputs.values().filter_map(|input| input["dtype"].as_str());
    let numbers = dtypes.find(|&dtype| dtype != "bool").or(expected["dtype"].as_str());
    let program = vector.get("program").ok_or_else(|| Fault::vector("there is no program"))?;
    let run = Program { inputs, integers: numbers == Some("i64"), layout, stretch };
    let found = run.build(program)?;
    match expected.get("error") {
        None => found.check(expected, &Tolerance::of(&vector["tol"]), stretch),
        Some(_) => Ok(()),
    }
}

/// A program's surroundings.
struct Program<'p> {
    inputs: &'p Map<String, Value>,
    /// Whether bare numbers are integers.
    integers: bool,
    layout: Layout,
    stretch: Stretch,
}

impl Program<'_> {
    fn build(&self, program: &Value) -> Outcome<Typed> {
        match program {
            Value::String(name) => self.input(name),
            Value::Number(_) if self.integers => Ok(Typed::I64(Operand::read(program)?)),
            Value::Number(_) => Ok(Typed::F64(Operand::read(program)?)),
            Value::Bool(_) => Ok(Typed::Bool(Operand::read(program)?)),
            _ => {
                let (op, arguments) = operation(program)?;
                match views::operand(op, arguments)? {
                    Some((x, options)) => self.build(x)?.view(self, op, options),
                    None => self.operation(op, arguments),
                }
            }
        }
    }

    fn input(&self, name: &str) -> Outcome<Typed> {
        // Numbers of floats that JSON lacks are texts.
        let word = matches!(name, "nan" | "inf" | "-inf") && !self.inputs.contains_key(name);
        match self.inputs.get(name) {
            Some(value) => Typed::read(value, self.layout),
            None if word => Ok(Typed::F64(Operand::read(&name.into())?)),
            None => Err(Fault::vector(format!("unknown input {name}"))),
        }
    }
}

/// The name and the arguments of an operation.
fn operation(program: &Value) -> Outcome<(&str, &[Value])> {
    match program.as_array().map(Vec::as_slice) {
        Some([Value::String(op), arguments @ ..]) => Ok((op, arguments)),
        _ => Err(Fault::vector(format!("{program} is not an operation"))),
    }
}
