//! Gufuncs: signatures, shapes of calls, and calls.

use super::arrays;
use super::json::{Fault, Outcome, extents, integer, integers, items};
use super::programs::{Inputs, Program, Typed};
use super::refusal;
use super::results::{Found, Results, tolerated};
use super::views::{View, view};
use lensor::gufunc::{
    self, Call, Core, CoreMut, Elementary, Gufunc, Held, Inputs as Types, Signature,
};
use lensor::reduce::{Max, Min, WrappingProduct, WrappingSum};
use lensor::{BoxExpr, Error, Shape, Tensor};
use serde_json::Value;

/// Runs a vector.
pub(crate) fn check(vector: &Value) -> Outcome<()> {
    let found = match vector["kind"].as_str() {
        Some("signature") => signature(vector)?,
        Some("like") => like(vector)?,
        Some("resolve") => resolve(vector)?,
        Some("call") => call(vector)?,
        _ => return Err(Fault::vector(format!("unknown kind {}", vector["kind"]))),
    };
    refusal::judged(found, &vector["expect"])
}

/// What came of a vector: a refusal of the library is an outcome.
type Run = Outcome<Result<(), Error>>;

/// Goes on with a value, or ends with the refusal.
macro_rules! accepted {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Ok(Err(error)),
        }
    };
}

fn text(value: &Value) -> Outcome<&str> {
    value.as_str().ok_or_else(|| Fault::vector(format!("{value} is not a text")))
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Outcome<()> {
    let differs = || Fault::vector(format!("{what}: {found:?}, expected {expected:?}"));
    if found == expected { Ok(()) } else { Err(differs()) }
}

fn signature(vector: &Value) -> Run {
    let signature = accepted!(Signature::parse(text(&vector["text"])?));
    let expected = &vector["expect"];
    if expected.get("error").is_none() {
        same("display", signature.to_string().as_str(), text(&expected["display"])?)?;
        let counts = [signature.inputs(), signature.outputs()].map(Value::from);
        same("arguments", counts, [expected["inputs"].clone(), expected["outputs"].clone()])?;
        same("read back", Signature::parse(&signature.to_string()).ok(), Some(signature))?;
    }
    Ok(Ok(()))
}

fn like(vector: &Value) -> Run {
    let [a, b] = items(&vector["texts"])? else { return Err(Fault::vector("two texts")) };
    let (a, b) = (Signature::parse(text(a)?)?, Signature::parse(text(b)?)?);
    same("like", Some(a.is_like(&b)), vector["expect"].as_bool())?;
    Ok(Ok(()))
}

/// The function that mixes all elements of all cores.
pub(crate) fn mix<const I: usize, const O: usize>(
    cores: [Core<'_, f64>; I],
    outs: [CoreMut<'_, f64>; O],
) {
    let terms = cores.iter().enumerate().flat_map(|(i, core)| {
        core.iter().enumerate().map(move |(q, x)| ((i + 1) * (q + 1)) as f64 * x)
    });
    let sum: f64 = terms.sum();
    for (o, mut out) in outs.into_iter().enumerate() {
        for (p, slot) in out.iter_mut().enumerate() {
            *slot = (1000 * (o + 1) + p) as f64 + sum;
        }
    }
}

/// Calls `$run` with the numbers of arguments as constants.
macro_rules! counted {
    ($signature:expr, $run:ident, $vector:expr) => {
        counted!(@ $signature, $run, $vector; 0 1 2 3 4 5 6)
    };
    (@ $signature:expr, $run:ident, $vector:expr; $($i:literal)*) => {
        match ($signature.inputs(), $signature.outputs()) {
            $(
                ($i, 1) => $run::<$i, 1>($vector),
                ($i, 2) => $run::<$i, 2>($vector),
                ($i, 3) => $run::<$i, 3>($vector),
                ($i, 4) => $run::<$i, 4>($vector),
            )*
            counts => Err(Fault::vector(format!("functions of {counts:?} arguments"))),
        }
    };
}

/// The gufunc that mixes, with the extents that a vector gives.
macro_rules! mixing {
    ($signature:expr, $vector:expr, $I:ident, $O:ident) => {{
        let given = named_extents(&$vector["extents"]);
        let gufunc = accepted!(Gufunc::<[f64; $I], [f64; $O], _>::each($signature, mix::<$I, $O>));
        gufunc.with_extents(move |dims| {
            given.iter().try_for_each(|(name, extent)| dims.set(name, *extent))
        })
    }};
}

fn named_extents(value: &Value) -> Vec<(String, usize)> {
    let each = value.as_object().into_iter().flatten();
    each.map(|(name, extent)| (name.clone(), extent.as_u64().unwrap_or(0) as usize)).collect()
}

fn resolve(vector: &Value) -> Run {
    let signature = accepted!(Signature::parse(text(&vector["signature"])?));
    counted!(signature, resolved, vector)
}

fn resolved<const I: usize, const O: usize>(vector: &Value) -> Run {
    let gufunc = mixing!(text(&vector["signature"])?, vector, I, O);
    let mut operands = Vec::new();
    for shape in items(&vector["operands"])? {
        operands.push(Tensor::constant(extents(shape)?, 0.0)?);
    }
    let operands: [_; I] = operands.try_into().map_err(|_| Fault::vector("other operands"))?;
    let call = with_options(gufunc.call(operands), vector)?;
    let shape = |out| extents(out).map(Shape::from);
    let outs =
        vector.get("out").map(|outs| items(outs)?.iter().map(shape).collect::<Outcome<Vec<_>>>());
    let mut found = accepted!(call.shapes_for(outs.transpose()?.as_deref()));
    let expected = &vector["expect"];
    if expected.get("error").is_none() {
        let mut dims = named_extents(&expected["dims"]);
        dims.sort();
        found.dims.sort();
        same("dims", found.dims, dims)?;
        same("loop", found.loops.to_vec(), extents(&expected["loop"])?)?;
        let outputs =
            items(&expected["outputs"])?.iter().map(shape).collect::<Outcome<Vec<_>>>()?;
        same("outputs", found.outputs, outputs)?;
    }
    Ok(Ok(()))
}

fn with_options<I, O, F, X>(call: Call<I, O, F, X>, vector: &Value) -> Outcome<Call<I, O, F, X>>
where
    I: Types,
    O: Results,
    F: Elementary<I, O>,
    X: Held<I>,
{
    let mut call = call;
    if let Some(axes) = vector.get("axes") {
        call = call.axes(items(axes)?.iter().map(integers).collect::<Outcome<Vec<_>>>()?);
    }
    if let Some(axis) = vector.get("axis") {
        call = call.axis(integer(axis)?);
    }
    Ok(if vector["keepdims"].as_bool() == Some(true) { call.keepdims() } else { call })
}

/// Makes a call to new results or to those that are there, all or as a mask says, and compares.
fn made<I, O, F, X>(call: Call<I, O, F, X>, vector: &Value) -> Run
where
    I: Types,
    O: Results,
    F: Elementary<I, O>,
    X: Held<I>,
{
    let call = with_options(call, vector)?;
    let outs = vector.get("out").map(items).transpose()?;
    let found = match vector.get("filter") {
        None => match outs {
            None => call.eval().map(O::found),
            Some(outs) => O::assigned(&call, outs)?,
        },
        Some(filter) => {
            let mut call = call.filter(mask(filter, vector)?);
            if let Some(values) = vector.get("or") {
                call = call.or(O::values(items(values)?)?);
            }
            match outs {
                None => call.eval().map(O::found),
                Some(outs) => O::assigned(&call, outs)?,
            }
        }
    };
    let found: Vec<Found> = accepted!(found);
    if vector["expect"].get("error").is_none() {
        let expected = items(&vector["expect"])?;
        same("results", found.len(), expected.len())?;
        for (found, expected) in found.iter().zip(expected) {
            tolerated(found, expected, &vector["tol"])?;
        }
    }
    Ok(Ok(()))
}

/// A mask: a view of an input.
fn mask(program: &Value, vector: &Value) -> Outcome<BoxExpr<'static, bool>> {
    let wrong = || Fault::vector(format!("{program} is not a mask"));
    if let Value::Array(parts) = program {
        let [Value::String(op), operand, options @ ..] = &parts[..] else { return Err(wrong()) };
        let operand = mask(operand, vector)?;
        return match View::of(op, options)? {
            Some(view) => Ok(view!(operand, view)?),
            None => Err(wrong()),
        };
    }
    Ok(arrays::array(&vector["inputs"][text(program)?])?.lazy().boxed())
}

/// The operands of a call.
fn operands<'p>(vector: &'p Value, inputs: &'p Inputs<'p>) -> Outcome<Vec<Typed<'p>>> {
    let program = Program::all(inputs);
    items(&vector["operands"])?.iter().map(|operand| program.build(operand)).collect()
}

fn array<T, const N: usize>(operands: Vec<T>) -> Outcome<[T; N]> {
    let found = operands.len();
    operands.try_into().map_err(|_| Fault::vector(format!("{found} operands of {N}")))
}

fn call(vector: &Value) -> Run {
    if let Some(text_of) = vector["function"].get("mix") {
        let signature = accepted!(Signature::parse(text(text_of)?));
        return counted!(signature, mixed, vector);
    }
    let inputs = Inputs::numbers(vector)?;
    let operands = operands(vector, &inputs)?;
    if operands.iter().all(|operand| matches!(operand, Typed::I64(_))) {
        integers_called(vector, operands)
    } else {
        floats_called(vector, operands)
    }
}

fn mixed<const I: usize, const O: usize>(vector: &Value) -> Run {
    let gufunc = mixing!(text(&vector["function"]["mix"])?, vector, I, O);
    let inputs = Inputs::numbers(vector)?;
    let operands =
        operands(vector, &inputs)?.into_iter().map(float).collect::<Outcome<Vec<_>>>()?;
    made(gufunc.call(array::<_, I>(operands)?), vector)
}

fn float(operand: Typed<'_>) -> Outcome<BoxExpr<'_, f64>> {
    match operand {
        Typed::F64(operand) => Ok(operand),
        Typed::I64(_) => Err(Fault::vector("an operand of floats is i64")),
    }
}

/// The call of a function that takes any numbers.
macro_rules! of_numbers {
    ($name:expr, $operands:expr, $vector:expr, $($others:tt)*) => {
        match $name {
            "inner1d" => made(gufunc::inner1d().call(array::<_, 2>($operands)?), $vector),
            "outer" => made(gufunc::outer().call(array::<_, 2>($operands)?), $vector),
            "matmul" => made(gufunc::matmul().call(array::<_, 2>($operands)?), $vector),
            "cross" => made(gufunc::cross().call(array::<_, 2>($operands)?), $vector),
            "trace" => made(gufunc::trace().call(array::<_, 1>($operands)?), $vector),
            "minmax" => made(gufunc::minmax().call(array::<_, 1>($operands)?), $vector),
            "argminmax" => made(gufunc::argminmax().call(array::<_, 1>($operands)?), $vector),
            "sort" => made(gufunc::sort().call(array::<_, 1>($operands)?), $vector),
            "argsort" => made(gufunc::argsort().call(array::<_, 1>($operands)?), $vector),
            "convolve_full" => made(gufunc::convolve_full().call(array::<_, 2>($operands)?), $vector),
            "convolve_valid" => made(gufunc::convolve_valid().call(array::<_, 2>($operands)?), $vector),
            "polyval" => made(gufunc::polyval().call(array::<_, 2>($operands)?), $vector),
            "histogram" => made(gufunc::histogram().call(array::<_, 2>($operands)?), $vector),
            "cumulative_min" => made(gufunc::cumulative(Min).call(array::<_, 1>($operands)?), $vector),
            "cumulative_max" => made(gufunc::cumulative(Max).call(array::<_, 1>($operands)?), $vector),
            $($others)*
            name => Err(Fault::vector(format!("unknown function {name}"))),
        }
    };
}

fn integers_called(vector: &Value, operands: Vec<Typed<'_>>) -> Run {
    let operands: Vec<BoxExpr<'_, i64>> = operands
        .into_iter()
        .filter_map(|operand| match operand {
            Typed::I64(operand) => Some(operand),
            Typed::F64(_) => None,
        })
        .collect();
    of_numbers!(
        text(&vector["function"])?, operands, vector,
        "cumulative_sum" => made(gufunc::cumulative(WrappingSum).call(array::<_, 1>(operands)?), vector),
        "cumulative_prod" => made(gufunc::cumulative(WrappingProduct).call(array::<_, 1>(operands)?), vector),
    )
}

fn floats_called(vector: &Value, operands: Vec<Typed<'_>>) -> Run {
    let operands = operands.into_iter().map(float).collect::<Outcome<Vec<_>>>()?;
    of_numbers!(
        text(&vector["function"])?, operands, vector,
        "cumulative_sum" => made(gufunc::cumulative(lensor::reduce::Sum).call(array::<_, 1>(operands)?), vector),
        "cumulative_prod" => made(gufunc::cumulative(lensor::reduce::Product).call(array::<_, 1>(operands)?), vector),
        "det" => made(gufunc::det().call(array::<_, 1>(operands)?), vector),
        "inv" => made(gufunc::inv().call(array::<_, 1>(operands)?), vector),
        "solve" => made(gufunc::solve().call(array::<_, 2>(operands)?), vector),
        "norm" => made(gufunc::norm().call(array::<_, 1>(operands)?), vector),
        "normalize" => made(gufunc::normalize().call(array::<_, 1>(operands)?), vector),
        "cdist" => made(gufunc::cdist().call(array::<_, 2>(operands)?), vector),
        "pdist" => made(gufunc::pdist().call(array::<_, 1>(operands)?), vector),
        "interp" => made(gufunc::interp().call(array::<_, 3>(operands)?), vector),
    )
}
