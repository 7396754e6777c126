//! Refusals: variants of errors and their fields.

use super::json::{Fault, Outcome};
use lensor::Error;
use serde_json::{Map, Value, json};

/// Holds an error against the variant and the fields that are expected.
pub(crate) fn agrees(error: &Error, expected: &Value) -> Outcome<()> {
    let (variant, fields) = parts(error);
    let wanted = expected.as_object().into_iter().flatten();
    for (name, value) in wanted {
        let found = if name == "error" { Some(&Value::from(variant)) } else { fields.get(name) };
        let any = name == "error" && value == "*";
        if !any && found != Some(value) {
            let found = found.unwrap_or(&Value::Null);
            return Err(Fault::vector(format!(
                "refused by {error}: {name} is {found}, expected {value}"
            )));
        }
    }
    Ok(())
}

fn parts(error: &Error) -> (&'static str, Map<String, Value>) {
    let (variant, fields) = match error {
        Error::Signature { byte, .. } => match byte {
            Some(byte) => ("Signature", json!({ "byte": byte })),
            None => ("Signature", json!({})),
        },
        Error::CoreRank { argument, shape, needs, .. } => {
            ("CoreRank", json!({ "argument": argument, "shape": shape, "needs": needs }))
        }
        Error::CoreExtent { dim, argument, axis, extent, so_far, first, .. } => (
            "CoreExtent",
            json!({
                "dim": dim, "argument": argument, "axis": axis, "extent": extent, "so_far": so_far, "first": first,
            }),
        ),
        Error::CoreUnknown { dim } => ("CoreUnknown", json!({ "dim": dim })),
        Error::CoreComputed { value, .. } => match value {
            Some(value) => ("CoreComputed", json!({ "value": i64::try_from(*value).ok() })),
            None => ("CoreComputed", json!({})),
        },
        Error::CoreAxes { .. } => ("CoreAxes", json!({})),
        Error::Elementary { index, .. } => ("Elementary", json!({ "index": index })),
        Error::MaskedOutput => ("MaskedOutput", json!({})),
        Error::Operands { argument, axis, .. } => {
            ("Operands", json!({ "argument": argument, "axis": axis }))
        }
        Error::Destination { expected, found } => {
            ("Destination", json!({ "expected": expected, "found": found }))
        }
        _ => ("another", json!({})),
    };
    (variant, fields.as_object().cloned().unwrap_or_default())
}
