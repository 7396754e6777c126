//! Calls of gufuncs with ragged operands.

use super::super::gufunc::mix;
use super::super::json::{Fault, Outcome, items};
use super::super::results::Tolerance;
use super::values::{Operand, Typed, typed};
use super::{Layout, Program, refusal};
use lensor::gufunc::{self, Gufunc, Signature};
use lensor::ragged::{ElementwiseRagged, Ragged, Stretch};
use lensor::reduce::{Max, Min, Product, Sum, WrappingProduct, WrappingSum};
use serde_json::Value;

/// Whether an operand or a result of a call is ragged.
pub(crate) fn is_ragged(vector: &Value) -> bool {
    let mut inputs = vector["inputs"].as_object().into_iter().flatten();
    inputs.any(|(_, input)| input.get("form").is_some())
}

/// Runs a call, once for each way to lay out rows.
pub(crate) fn call(vector: &Value) -> Outcome<()> {
    Layout::ALL.into_iter().try_for_each(|layout| {
        let found = match results(vector, layout) {
            Err(Fault::Refused(error)) => refusal::judged(Err(*error), &vector["expect"]),
            Err(fault) => Err(fault),
            Ok(found) if vector["expect"].get("error").is_some() => {
                refusal::judged(Ok(()), &vector["expect"]).map(|()| drop(found))
            }
            Ok(found) => agree(found, vector),
        };
        found.map_err(|fault| Fault::vector(format!("{fault} (rows by {layout:?})")))
    })
}

fn agree(found: Vec<Typed>, vector: &Value) -> Outcome<()> {
    let expected = items(&vector["expect"])?;
    if found.len() != expected.len() {
        return Err(Fault::vector(format!("{} results, expected {}", found.len(), expected.len())));
    }
    let tolerance = Tolerance::of(&vector["tol"]);
    found
        .into_iter()
        .zip(expected)
        .try_for_each(|(found, expected)| found.check(expected, &tolerance, Stretch::Rows))
}

/// Ragged results as values.
trait Results {
    fn values(self) -> Outcome<Vec<Typed>>;
}

trait Known: Copy + Send + Sync {
    fn value(rows: Ragged<Vec<Self>>) -> Outcome<Typed>;
}

impl Known for f64 {
    fn value(rows: Ragged<Vec<f64>>) -> Outcome<Typed> {
        Ok(typed(rows))
    }
}

impl Known for i64 {
    fn value(rows: Ragged<Vec<i64>>) -> Outcome<Typed> {
        Ok(typed(rows))
    }
}

impl Known for usize {
    fn value(rows: Ragged<Vec<usize>>) -> Outcome<Typed> {
        Ok(typed(rows.view().cast::<i64>().eval()?))
    }
}

impl<T: Known, const N: usize> Results for [Ragged<Vec<T>>; N] {
    fn values(self) -> Outcome<Vec<Typed>> {
        self.into_iter().map(T::value).collect()
    }
}

impl<T: Known> Results for (Ragged<Vec<T>>,) {
    fn values(self) -> Outcome<Vec<Typed>> {
        Ok(vec![T::value(self.0)?])
    }
}

fn array<T, const N: usize>(operands: Vec<T>) -> Outcome<[T; N]> {
    let found = operands.len();
    operands.try_into().map_err(|_| Fault::vector(format!("{found} operands of {N}")))
}

/// The call of a function that takes any numbers.
macro_rules! of_numbers {
    ($name:expr, $operands:expr; $($others:tt)*) => {
        match $name {
            "inner1d" => gufunc::inner1d().call_ragged(array::<_, 2>($operands)?).eval()?.values(),
            "outer" => gufunc::outer().call_ragged(array::<_, 2>($operands)?).eval()?.values(),
            "matmul" => gufunc::matmul().call_ragged(array::<_, 2>($operands)?).eval()?.values(),
            "cross" => gufunc::cross().call_ragged(array::<_, 2>($operands)?).eval()?.values(),
            "trace" => gufunc::trace().call_ragged(array::<_, 1>($operands)?).eval()?.values(),
            "minmax" => gufunc::minmax().call_ragged(array::<_, 1>($operands)?).eval()?.values(),
            "argminmax" => gufunc::argminmax().call_ragged(array::<_, 1>($operands)?).eval()?.values(),
            "sort" => gufunc::sort().call_ragged(array::<_, 1>($operands)?).eval()?.values(),
            "argsort" => gufunc::argsort().call_ragged(array::<_, 1>($operands)?).eval()?.values(),
            "convolve_full" => gufunc::convolve_full().call_ragged(array::<_, 2>($operands)?).eval()?.values(),
            "convolve_valid" => gufunc::convolve_valid().call_ragged(array::<_, 2>($operands)?).eval()?.values(),
            "polyval" => gufunc::polyval().call_ragged(array::<_, 2>($operands)?).eval()?.values(),
            "histogram" => gufunc::histogram().call_ragged(array::<_, 2>($operands)?).eval()?.values(),
            "cumulative_min" => gufunc::cumulative(Min).call_ragged(array::<_, 1>($operands)?).eval()?.values(),
            "cumulative_max" => gufunc::cumulative(Max).call_ragged(array::<_, 1>($operands)?).eval()?.values(),
            $($others)*
            name => Err(Fault::vector(format!("unknown function {name}"))),
        }
    };
}

fn results(vector: &Value, layout: Layout) -> Outcome<Vec<Typed>> {
    let none = || Fault::vector("there are no inputs");
    let inputs = vector["inputs"].as_object().ok_or_else(none)?;
    let program = Program { inputs, integers: false, layout, stretch: Stretch::Rows };
    let operands = items(&vector["operands"])?.iter().map(|operand| program.build(operand));
    let operands = operands.collect::<Outcome<Vec<_>>>()?;
    if let Some(signature) = vector["function"].get("mix").and_then(Value::as_str) {
        return mixed(signature, floats(operands)?);
    }
    let name = vector["function"].as_str().ok_or_else(|| Fault::vector("no function"))?;
    if operands.iter().all(|operand| matches!(operand, Typed::I64(_))) {
        let operands = integers(operands)?;
        return of_numbers!(name, operands;
            "cumulative_sum" => gufunc::cumulative(WrappingSum).call_ragged(array::<_, 1>(operands)?).eval()?.values(),
            "cumulative_prod" => gufunc::cumulative(WrappingProduct).call_ragged(array::<_, 1>(operands)?).eval()?.values(),
        );
    }
    let operands = floats(operands)?;
    of_numbers!(name, operands;
        "cumulative_sum" => gufunc::cumulative(Sum).call_ragged(array::<_, 1>(operands)?).eval()?.values(),
        "cumulative_prod" => gufunc::cumulative(Product).call_ragged(array::<_, 1>(operands)?).eval()?.values(),
        "det" => gufunc::det().call_ragged(array::<_, 1>(operands)?).eval()?.values(),
        "inv" => gufunc::inv().call_ragged(array::<_, 1>(operands)?).eval()?.values(),
        "solve" => gufunc::solve().call_ragged(array::<_, 2>(operands)?).eval()?.values(),
        "norm" => gufunc::norm().call_ragged(array::<_, 1>(operands)?).eval()?.values(),
        "normalize" => gufunc::normalize().call_ragged(array::<_, 1>(operands)?).eval()?.values(),
        "cdist" => gufunc::cdist().call_ragged(array::<_, 2>(operands)?).eval()?.values(),
        "pdist" => gufunc::pdist().call_ragged(array::<_, 1>(operands)?).eval()?.values(),
        "interp" => gufunc::interp().call_ragged(array::<_, 3>(operands)?).eval()?.values(),
    )
}

fn integers(operands: Vec<Typed>) -> Outcome<Vec<Ragged<Vec<i64>>>> {
    let rows = |operand| match operand {
        Typed::I64(operand) => Operand::rows(operand),
        _ => Err(Fault::vector("an operand of integers is none")),
    };
    operands.into_iter().map(rows).collect()
}

fn floats(operands: Vec<Typed>) -> Outcome<Vec<Ragged<Vec<f64>>>> {
    let rows = |operand| match operand {
        Typed::F64(operand) => Operand::rows(operand),
        _ => Err(Fault::vector("an operand of floats is none")),
    };
    operands.into_iter().map(rows).collect()
}

fn mixed(signature: &str, operands: Vec<Ragged<Vec<f64>>>) -> Outcome<Vec<Typed>> {
    let parsed = Signature::parse(signature)?;
    macro_rules! counted {
        ($($i:literal $o:literal),*) => {
            match (parsed.inputs(), parsed.outputs()) {
                $(($i, $o) => Gufunc::<[f64; $i], [f64; $o], _>::each(signature, mix::<$i, $o>)?
                    .call_ragged(array::<_, $i>(operands)?).eval()?.values(),)*
                counts => Err(Fault::vector(format!("functions of {counts:?} arguments"))),
            }
        };
    }
    counted!(1 1, 2 1, 3 1, 4 1, 1 2, 2 2, 3 2, 4 2, 1 3, 2 3, 3 3)
}
