//! Refusals: variants of errors and their fields.

use super::json::{Fault, Outcome};
use lensor::Error;
use serde_json::{Map, Value};

/// Holds what came of a vector against a refusal, if one is expected.
pub(crate) fn judged(found: Result<(), Error>, expected: &Value) -> Outcome<()> {
    match (found, expected.get("error")) {
        (Ok(()), None) => Ok(()),
        (Ok(()), Some(why)) => Err(Fault::vector(format!("accepted, should refuse: {why}"))),
        (Err(error), None) => Err(Fault::vector(format!("refused by {error}"))),
        (Err(error), Some(_)) => agrees(&error, expected),
    }
}

/// Holds an error against the variant and the fields that are expected.
fn agrees(error: &Error, expected: &Value) -> Outcome<()> {
    let (variant, fields) = parts(error);
    let wanted = expected.as_object().into_iter().flatten();
    for (name, value) in wanted {
        let found = if name == "error" { Some(&variant) } else { fields.get(name) };
        let any = name == "error" && value == "*";
        if !any && !found.is_some_and(|found| same(found, value)) {
            let found = found.unwrap_or(&Value::Null);
            return Err(Fault::vector(format!(
                "refused by {error}: {name} is {found}, expected {value}"
            )));
        }
    }
    Ok(())
}

/// Numbers below 0 where the library has none are as far outside as its largest ones.
fn same(found: &Value, expected: &Value) -> bool {
    let wrapped = expected.as_i64().filter(|&number| number < 0).map(|number| number as u64);
    found == expected || wrapped.is_some() && found.as_u64() == wrapped
}

/// The name of the variant and all of its fields, as `Debug` prints them: a vector may expect any of them.
fn parts(error: &Error) -> (Value, Map<String, Value>) {
    let text = format!("{error:?}");
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    let (variant, rest) = text.split_at(end);
    let inner = rest.strip_prefix(" { ").and_then(|rest| rest.strip_suffix(" }")).unwrap_or("");
    let fields = split(inner).into_iter().filter_map(|field| field.split_once(": "));
    (variant.into(), fields.map(|(name, text)| (name.to_string(), value(text))).collect())
}

/// The parts between commas that are in no brackets and no quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quoted, mut escaped) =
        (Vec::new(), 0, 0, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 2;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// A number, a list of numbers or a text, with no regard to whether it is optional.
fn value(text: &str) -> Value {
    let inner = text.strip_prefix("Some(").and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    match inner {
        "None" => Value::Null,
        _ => serde_json::from_str(inner).unwrap_or_else(|_| inner.into()),
    }
}
