//! Results of calls: found, assigned, and held against what is expected.

use super::arrays::Element;
use super::json::{Fault, Outcome, extents, items};
use lensor::gufunc::{Call, Elementary, Held, Inputs, Outputs};
use lensor::{Error, Expr, Shape, Tensor};
use serde_json::Value;

/// A result.
pub(crate) enum Found {
    F64(Shape, Vec<f64>),
    I64(Shape, Vec<i64>),
}

/// Elements of results as those of vectors.
pub(crate) trait Known: Copy + Default + Send + Sync + 'static {
    fn found(shape: Shape, elements: Vec<Self>) -> Found;
    fn of(value: &Value) -> Outcome<Self>;
}

impl Known for f64 {
    fn found(shape: Shape, elements: Vec<f64>) -> Found {
        Found::F64(shape, elements)
    }

    fn of(value: &Value) -> Outcome<f64> {
        Element::of(value)
    }
}

impl Known for i64 {
    fn found(shape: Shape, elements: Vec<i64>) -> Found {
        Found::I64(shape, elements)
    }

    fn of(value: &Value) -> Outcome<i64> {
        Element::of(value)
    }
}

impl Known for usize {
    fn found(shape: Shape, elements: Vec<usize>) -> Found {
        Found::I64(shape, elements.into_iter().map(|k| k as i64).collect())
    }

    fn of(value: &Value) -> Outcome<usize> {
        super::json::extent(value)
    }
}

fn found<T: Known>(tensor: &Tensor<Vec<T>>) -> Result<Found, Error> {
    Ok(T::found(tensor.shape(), tensor.to_vec()?))
}

fn destination<T: Known>(value: &Value) -> Outcome<Tensor<Vec<T>>> {
    let elements = items(&value["data"])?.iter().map(T::of).collect::<Outcome<Vec<_>>>()?;
    Ok(Tensor::from_vec(extents(&value["shape"])?, elements)?)
}

/// Lists of outputs as those of vectors.
pub(crate) trait Results: Outputs + Sized {
    fn found(tensors: Self::Tensors) -> Vec<Found>;

    /// A value for each output.
    fn values(values: &[Value]) -> Outcome<Self::Elems>;

    /// What outputs that are there hold after the call.
    fn assigned<I, F, X, M>(
        call: &Call<I, Self, F, X, M>,
        outs: &[Value],
    ) -> Outcome<Result<Vec<Found>, Error>>
    where
        I: Inputs,
        F: Elementary<I, Self>,
        X: Held<I>,
        M: Expr<Elem = bool>;
}

impl<T: Known, const N: usize> Results for [T; N] {
    fn found(tensors: Self::Tensors) -> Vec<Found> {
        tensors.iter().map(|tensor| found(tensor).expect("memory")).collect()
    }

    fn values(values: &[Value]) -> Outcome<[T; N]> {
        let values = values.iter().map(T::of).collect::<Outcome<Vec<_>>>()?;
        values.try_into().map_err(|_| Fault::vector("other values than outputs"))
    }

    fn assigned<I, F, X, M>(
        call: &Call<I, Self, F, X, M>,
        outs: &[Value],
    ) -> Outcome<Result<Vec<Found>, Error>>
    where
        I: Inputs,
        F: Elementary<I, Self>,
        X: Held<I>,
        M: Expr<Elem = bool>,
    {
        let outs = outs.iter().map(destination).collect::<Outcome<Vec<_>>>()?;
        let mut outs: [_; N] = outs.try_into().map_err(|_| Fault::vector("other outputs"))?;
        let done = call.assign_to(outs.each_mut());
        Ok(done.and_then(|()| outs.iter().map(found).collect()))
    }
}

impl<T: Known> Results for (T,) {
    fn found(tensors: (Tensor<Vec<T>>,)) -> Vec<Found> {
        vec![found(&tensors.0).expect("memory")]
    }

    fn values(values: &[Value]) -> Outcome<(T,)> {
        match values {
            [value] => Ok((T::of(value)?,)),
            _ => Err(Fault::vector("other values than outputs")),
        }
    }

    fn assigned<I, F, X, M>(
        call: &Call<I, Self, F, X, M>,
        outs: &[Value],
    ) -> Outcome<Result<Vec<Found>, Error>>
    where
        I: Inputs,
        F: Elementary<I, Self>,
        X: Held<I>,
        M: Expr<Elem = bool>,
    {
        let [out] = outs else { return Err(Fault::vector("other outputs")) };
        let mut out = destination(out)?;
        let done = call.assign_to(&mut out);
        Ok(done.and_then(|()| Ok(vec![found(&out)?])))
    }
}

/// Holds a result against the array that is expected, with a tolerance.
pub(crate) fn tolerated(found: &Found, expected: &Value, tolerance: &Value) -> Outcome<()> {
    let (dtype, shape) = match found {
        Found::F64(shape, _) => ("f64", shape),
        Found::I64(shape, _) => ("i64", shape),
    };
    if expected["dtype"] != dtype || shape.to_vec() != extents(&expected["shape"])? {
        let (of, at) = (&expected["dtype"], &expected["shape"]);
        return Err(Fault::vector(format!("{dtype} {shape:?}, expected {of} {at}")));
    }
    let tolerance = Tolerance::of(tolerance);
    match found {
        Found::I64(_, elements) => near(elements, items(&expected["data"])?, &tolerance),
        Found::F64(_, elements) => near(elements, items(&expected["data"])?, &tolerance),
    }
}

/// How far numbers may be from those that are expected.
pub(crate) struct Tolerance {
    ulp: f64,
    scale: f64,
}

impl Tolerance {
    /// The tolerance of a vector; none without one.
    pub(crate) fn of(value: &Value) -> Self {
        let number = |name: &str| value.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        Self { ulp: number("ulp"), scale: number("scale") }
    }

    /// The largest distance from a number.
    pub(crate) fn around(&self, expected: f64) -> f64 {
        self.ulp * f64::EPSILON * expected.abs().max(self.scale)
    }
}

/// Holds elements against those that are expected, in row-major order.
pub(crate) fn near<'v, T: Element>(
    found: &[T],
    expected: impl IntoIterator<Item = &'v Value, IntoIter: ExactSizeIterator>,
    tolerance: &Tolerance,
) -> Outcome<()> {
    let expected = expected.into_iter();
    if found.len() != expected.len() {
        let counts = (found.len(), expected.len());
        return Err(Fault::vector(format!("{} elements, expected {}", counts.0, counts.1)));
    }
    for (k, (&x, wanted)) in found.iter().zip(expected).enumerate() {
        if !x.within(T::of(wanted)?, tolerance) {
            return Err(Fault::vector(format!("element {k} is {x:?}, expected {wanted}")));
        }
    }
    Ok(())
}
