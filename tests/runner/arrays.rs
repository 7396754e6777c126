//! Arrays: read as inputs, and held against results.

use super::json::{Fault, Outcome, extents, items, whole};
use super::results::Tolerance;
use lensor::BoxReader;
use lensor::prelude::*;
use lensor::storage::Sparse;
use serde_json::Value;

/// Most elements that are compared one by one, or filled from a formula.
const LARGE: usize = 1 << 26;

/// Elements of programs: how they are read and compared.
pub(crate) trait Element: Copy + Send + Sync + std::fmt::Debug + 'static {
    const DTYPE: &str;
    fn of(value: &Value) -> Outcome<Self>;
    fn generated(integer: i64) -> Self;
    fn agrees(self, expected: Self) -> bool;
    /// Whether it is as near as a tolerance asks for.
    fn within(self, expected: Self, tolerance: &Tolerance) -> bool;
    /// The integer that the element is.
    fn integer(self) -> Option<i64>;
}

impl Element for f64 {
    const DTYPE: &str = "f64";

    fn of(value: &Value) -> Outcome<f64> {
        let word =
            value.as_str().and_then(|word| word.parse().ok()).filter(|x: &f64| !x.is_finite());
        word.or(value.as_f64()).ok_or_else(|| Fault::vector(format!("{value} is not an f64")))
    }

    fn generated(integer: i64) -> f64 {
        integer as f64
    }

    /// Infinities equal themselves only, and NaN agrees with NaN only.
    fn agrees(self, expected: f64) -> bool {
        let scale = expected.abs().max(self.abs());
        self == expected
            || (self.is_nan() && expected.is_nan())
            || (scale.is_finite() && (self - expected).abs() <= 1e-12 * scale)
    }

    fn within(self, expected: f64, tolerance: &Tolerance) -> bool {
        let finite = self.is_finite() && expected.is_finite();
        self == expected
            || (self.is_nan() && expected.is_nan())
            || (finite && (self - expected).abs() <= tolerance.around(expected))
    }

    fn integer(self) -> Option<i64> {
        (self.fract() == 0.0).then_some(self as i64)
    }
}

impl Element for i64 {
    const DTYPE: &str = "i64";

    fn of(value: &Value) -> Outcome<i64> {
        if let Some(integer) = value.as_i64() {
            return Ok(integer);
        }
        let float = whole(value)?;
        let fits = (i64::MIN as f64..-(i64::MIN as f64)).contains(&float) && !value.is_u64();
        fits.then_some(float as i64).ok_or_else(|| Fault::vector(format!("{value} is not an i64")))
    }

    fn generated(integer: i64) -> i64 {
        integer
    }

    fn agrees(self, expected: i64) -> bool {
        self == expected
    }

    fn within(self, expected: i64, _tolerance: &Tolerance) -> bool {
        self == expected
    }

    fn integer(self) -> Option<i64> {
        Some(self)
    }
}

impl Element for bool {
    const DTYPE: &str = "bool";

    fn of(value: &Value) -> Outcome<bool> {
        value.as_bool().ok_or_else(|| Fault::vector(format!("{value} is not a bool")))
    }

    fn generated(integer: i64) -> bool {
        integer > 0
    }

    fn agrees(self, expected: bool) -> bool {
        self == expected
    }

    fn within(self, expected: bool, _tolerance: &Tolerance) -> bool {
        self == expected
    }

    fn integer(self) -> Option<i64> {
        Some(i64::from(self))
    }
}

pub(crate) type Input<T> = Tensor<BoxReader<'static, T>>;

/// The element type that an array names.
pub(crate) fn dtype(array: &Value) -> Outcome<&str> {
    match array["dtype"].as_str() {
        Some(dtype @ ("f64" | "i64")) => Ok(dtype),
        _ => Err(Fault::vector(format!("unknown dtype {}", array["dtype"]))),
    }
}

/// An array of any kind but the summed one.
pub(crate) fn array<T: Element>(value: &Value) -> Outcome<Input<T>> {
    let shape = Shape::from(extents(&value["shape"])?);
    if value.get("fill").is_some() {
        return Ok(Tensor::new(shape, sparse::<T>(value)?)?.erase());
    }
    let data = match value.get("gen") {
        Some(seed) => generated(seed, shape.count()?)?,
        None => elements(&value["data"])?,
    };
    Ok(Tensor::from_vec(shape, data)?.erase())
}

fn sparse<T: Element>(value: &Value) -> Outcome<Sparse<T>> {
    let (fill, indexes) = (T::of(&value["fill"])?, extents(&value["indexes"])?);
    let len = Shape::from(extents(&value["shape"])?).count()?;
    Ok(Sparse::from_sorted(len, fill, indexes, elements(&value["values"])?)?)
}

fn elements<T: Element>(list: &Value) -> Outcome<Vec<T>> {
    items(list)?.iter().map(T::of).collect()
}

fn generated<T: Element>(seed: &Value, count: usize) -> Outcome<Vec<T>> {
    let seed = seed.as_i64().ok_or_else(|| Fault::vector(format!("{seed} is not a seed")))? as u64;
    if count > LARGE {
        return Err(Fault::vector(format!("{count} elements are too many to generate")));
    }
    let number = |i: u64| {
        let mixed = i.wrapping_mul(2654435761).wrapping_add(seed.wrapping_mul(40503));
        ((mixed % (1 << 32)) >> 7) % 1001
    };
    Ok((0..count as u64).map(|i| T::generated(number(i) as i64 - 500)).collect())
}

/// Holds an expression against the array that is expected. What has sparse operands only is computed from
/// its entries as well.
pub(crate) fn check<T: Element>(found: &BoxExpr<'_, T>, expected: &Value) -> Outcome<()> {
    if dtype(expected)? != T::DTYPE {
        return Err(Fault::vector(format!("dtype {}, expected {}", T::DTYPE, expected["dtype"])));
    }
    let shape = found.shape()?;
    if shape.to_vec() != extents(&expected["shape"])? {
        return Err(Fault::vector(format!("shape {shape:?}, expected {}", expected["shape"])));
    }
    let about = |fault| Fault::vector(format!("the array that is expected: {fault}"));
    if found.is_sparse() && expected.get("fill").is_some() && shape.count()? > LARGE {
        return entries(found.eval_sparse()?.storage(), &sparse(expected).map_err(about)?);
    }
    let results = [
        Some(found.to_vec()?),
        found.is_sparse().then(|| found.eval_sparse()?.to_vec()).transpose()?,
    ];
    for result in results.into_iter().flatten() {
        match expected.get("checksum") {
            Some(sum) => checksum(&result, sum)?,
            None => same(&result, &array::<T>(expected).map_err(about)?.to_vec()?)?,
        }
    }
    Ok(())
}

fn same<T: Element>(found: &[T], expected: &[T]) -> Outcome<()> {
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        agree(i, *found, *expected)?;
    }
    Ok(())
}

fn agree<T: Element>(position: usize, found: T, expected: T) -> Outcome<()> {
    let differs = || format!("element {position} is {found:?}, expected {expected:?}");
    if found.agrees(expected) { Ok(()) } else { Err(Fault::vector(differs())) }
}

/// Compares the fill values, and the elements wherever one of both has an entry.
fn entries<T: Element>(found: &Sparse<T>, expected: &Sparse<T>) -> Outcome<()> {
    if !found.fill().agrees(expected.fill()) {
        let fills = (found.fill(), expected.fill());
        return Err(Fault::vector(format!("fill is {:?}, expected {:?}", fills.0, fills.1)));
    }
    for &address in found.addresses().iter().chain(expected.addresses()) {
        let element = |sparse: &Sparse<T>| sparse.get(address).unwrap_or(sparse.fill());
        agree(address, element(found), element(expected))?;
    }
    Ok(())
}

fn checksum<T: Element>(found: &[T], expected: &Value) -> Outcome<()> {
    let sum = found.iter().enumerate().try_fold(0_i64, |sum, (i, element)| {
        Some(sum.wrapping_add(element.integer()?.wrapping_mul((i % 1021 + 1) as i64)))
    });
    let wrapped = expected.as_i64().or(expected.as_u64().map(|sum| sum as i64));
    let wrapped = wrapped.ok_or_else(|| Fault::vector(format!("{expected} is not a checksum")))?;
    if sum == Some(wrapped) {
        return Ok(());
    }
    Err(Fault::vector(match sum {
        Some(sum) => format!("checksum {sum}, expected {expected}"),
        None => "a sum of elements that are not integers".into(),
    }))
}
