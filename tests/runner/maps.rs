//! Address maps, forwards and backwards.

use super::json::{Fault, Outcome, extents, items};
use super::views::{View, view};
use lensor::{AddressMap, Shape};
use serde_json::Value;

/// The map that a vector describes.
pub(crate) fn build(vector: &Value) -> Outcome<AddressMap> {
    let mut map = AddressMap::row_major(extents(&vector["shape"])?)?;
    for step in items(&vector["views"])? {
        let (op, arguments) = match items(step)? {
            [Value::String(op), arguments @ ..] => (op, arguments),
            _ => return Err(Fault::vector(format!("{step} is not a view"))),
        };
        let unknown = || Fault::vector(format!("unknown view {op}"));
        map = view!(map, View::of(op, arguments)?.ok_or_else(unknown)?)?;
    }
    Ok(map)
}

/// Compares every address both ways.
pub(crate) fn check(vector: &Value) -> Outcome<()> {
    let (map, expected) = (build(vector)?, &vector["expect"]);
    let shape = map.shape();
    if shape.to_vec() != extents(&expected["shape"])? {
        return Err(Fault::vector(format!("shape {shape:?}, expected {}", expected["shape"])));
    }
    let indexes = shape.indexes()?;
    let local = indexes.map(|index| map.to_local(&index)).collect::<lensor::Result<Vec<_>>>()?;
    if local != extents(&expected["local"])? {
        return Err(Fault::vector(format!("local {local:?}")));
    }
    let globals = items(&expected["global"])?;
    let addresses = Shape::from(extents(&vector["shape"])?).count()?;
    if globals.len() != addresses {
        let found = globals.len();
        return Err(Fault::vector(format!("global of {found} addresses, there are {addresses}")));
    }
    for (address, globals) in globals.iter().enumerate() {
        let position = |index: &[usize]| {
            index.iter().zip(shape.iter()).fold(0, |p, (digit, extent)| p * extent + digit)
        };
        let found: Vec<usize> = map.to_global(address).map(|index| position(&index)).collect();
        if found != extents(globals)? {
            return Err(Fault::vector(format!("global of {address}: {found:?}")));
        }
    }
    Ok(())
}
