//! Runs the test vectors: programs and address maps computed by NumPy, see `tests/vectors/README.md`.
//!
//! Reads every `*.jsonl` in the folders named by `LENSOR_VECTORS` (separated by `:`), or in
//! `tests/vectors` if that is unset.
//!
//! Longer than 400 lines because it is one runner, in one file beside its data.

use lensor::BoxReader;
use lensor::lanes::{Lanes, SortOrder};
use lensor::prelude::*;
use lensor::reduce::{Axes, Reducer, Reduction, WrappingProduct, WrappingSum};
use lensor::scan::Scan;
use lensor::storage::Sparse;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folders = std::env::var("LENSOR_VECTORS").unwrap_or_else(|_| "tests/vectors".into());
    let (mut passed, mut failed) = (0, 0);
    for folder in folders.split(':').filter(|folder| !folder.is_empty()) {
        for path in files(Path::new(folder)) {
            let text = std::fs::read_to_string(&path)
                .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                let vector: Value = serde_json::from_str(line)
                    .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                let outcome = catch_unwind(AssertUnwindSafe(|| run(&vector)))
                    .unwrap_or_else(|_| Err("panicked".into()));
                match outcome {
                    Ok(()) => passed += 1,
                    Err(why) => {
                        failed += 1;
                        println!("FAILED {}: {why}", vector["name"].as_str().unwrap_or("unnamed"));
                    }
                }
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    ExitCode::from(u8::from(failed > 0 || passed == 0))
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    files
}

fn run(vector: &Value) -> Result<(), String> {
    if vector.get("views").is_some() {
        return address_map(vector);
    }
    let dtype = match inputs(vector).first() {
        Some((_, array)) => array["dtype"].as_str().unwrap_or("f64").to_string(),
        None => "f64".into(),
    };
    if dtype == "i64" { program::<i64>(vector) } else { program::<f64>(vector) }
}

fn inputs(vector: &Value) -> Vec<(&str, &Value)> {
    vector["inputs"]
        .as_object()
        .map_or(Vec::new(), |map| map.iter().map(|(k, v)| (k.as_str(), v)).collect())
}

// ---- address maps

fn address_map(vector: &Value) -> Result<(), String> {
    let mut map = lensor::AddressMap::row_major(&Shape::from(extents(&vector["shape"])))
        .map_err(|e| e.to_string())?;
    for view in vector["views"].as_array().ok_or("no views")? {
        let view = view.as_array().ok_or("not a view")?;
        map = change(&view[0], &view[1..], map).map_err(|e| e.to_string())?;
    }
    let expected = &vector["expect"];
    let shape = map.shape();
    if shape.to_vec() != extents(&expected["shape"]) {
        return Err(format!("shape {shape:?}"));
    }
    let local: Vec<usize> = shape
        .indexes()
        .map_err(|e| e.to_string())?
        .map(|index| map.to_local(&index).expect("inside"))
        .collect();
    if local != extents(&expected["local"]) {
        return Err(format!("local {local:?}"));
    }
    for (address, globals) in expected["global"].as_array().ok_or("no global")?.iter().enumerate() {
        let position = |index: &[usize]| {
            index.iter().zip(shape.iter()).fold(0, |p, (digit, extent)| p * extent + digit)
        };
        let found: Vec<usize> = map.to_global(address).map(|index| position(&index)).collect();
        if found != extents(globals) {
            return Err(format!("global of {address}: {found:?}"));
        }
    }
    Ok(())
}

fn extents(list: &Value) -> Vec<usize> {
    list.as_array().map_or(Vec::new(), |list| {
        list.iter().map(|n| n.as_u64().expect("an extent") as usize).collect()
    })
}

fn integers(list: &Value) -> Vec<isize> {
    list.as_array().map_or(Vec::new(), |list| {
        list.iter().map(|n| n.as_i64().expect("an integer") as isize).collect()
    })
}

fn change(
    op: &Value,
    arguments: &[Value],
    map: lensor::AddressMap,
) -> lensor::Result<lensor::AddressMap> {
    match op.as_str().expect("an operation") {
        "transpose" => map.transpose(&extents(&arguments[0])),
        "select" => map.select(arguments.iter().map(selector).collect::<Vec<_>>()),
        "broadcast" => map.broadcast(extents(&arguments[0])),
        "rotate" => map.rotate(&integers(&arguments[0])),
        "reshape" => map.reshape(extents(&arguments[0])),
        other => panic!("unknown view {other}"),
    }
}

fn selector(value: &Value) -> Select {
    match value {
        Value::String(word) if word == "lla" => Select::Reverse,
        Value::String(_) => Select::All,
        Value::Number(n) => Select::Index(n.as_i64().expect("an index") as isize),
        // A negative index has no place in a list of addresses; the largest number is as far outside.
        Value::Array(_) => Select::List(
            integers(value).into_iter().map(|i| usize::try_from(i).unwrap_or(usize::MAX)).collect(),
        ),
        Value::Object(range) => {
            let range = integers(&range["range"]);
            Select::stepped(range[0], range[1], range[2])
        }
        other => panic!("unknown selector {other}"),
    }
}

// ---- programs

/// Elements of programs: how they are read and compared.
trait Number: lensor::dtype::Signed + lensor::dtype::Order + lensor::dtype::Sortable + Pair {
    fn of(value: &Value) -> Self;
    fn generated(integer: i64) -> Self;
    fn agrees(self, expected: Self) -> bool;
    fn whole(self) -> i64;
    fn cumsum(x: BoxExpr<'_, Self>, axis: usize) -> lensor::Result<BoxExpr<'_, Self>>;
    fn sum(x: BoxExpr<'_, Self>, axes: Axes, keepdims: bool) -> lensor::Result<BoxExpr<'_, Self>>;
    fn prod(x: BoxExpr<'_, Self>, axes: Axes, keepdims: bool) -> lensor::Result<BoxExpr<'_, Self>>;
    fn mean(x: BoxExpr<'_, Self>, axes: Axes, keepdims: bool) -> lensor::Result<BoxExpr<'_, Self>>;
}

/// Stands for the two bounds that operators and scalars need.
trait Pair: lensor::expr::IntoExpr<Elem = Self> + Copy + std::fmt::Debug + 'static {}
impl Pair for f64 {}
impl Pair for i64 {}

impl Number for f64 {
    fn of(value: &Value) -> f64 {
        match value.as_str() {
            Some("nan" | "NaN") => f64::NAN,
            Some("inf" | "Infinity") => f64::INFINITY,
            Some("-inf" | "-Infinity") => f64::NEG_INFINITY,
            _ => value.as_f64().expect("a number"),
        }
    }

    fn generated(integer: i64) -> f64 {
        integer as f64
    }

    fn agrees(self, expected: f64) -> bool {
        self == expected
            || (self.is_nan() && expected.is_nan())
            || (self - expected).abs() <= 1e-12 * expected.abs().max(self.abs())
    }

    fn whole(self) -> i64 {
        self as i64
    }

    fn cumsum(x: BoxExpr<'_, f64>, axis: usize) -> lensor::Result<BoxExpr<'_, f64>> {
        Ok(x.cumsum(axis).eval()?.lazy().boxed())
    }

    fn sum(x: BoxExpr<'_, f64>, axes: Axes, keepdims: bool) -> lensor::Result<BoxExpr<'_, f64>> {
        reduced(x.sum(axes), keepdims)
    }

    fn prod(x: BoxExpr<'_, f64>, axes: Axes, keepdims: bool) -> lensor::Result<BoxExpr<'_, f64>> {
        reduced(x.prod(axes), keepdims)
    }

    fn mean(x: BoxExpr<'_, f64>, axes: Axes, keepdims: bool) -> lensor::Result<BoxExpr<'_, f64>> {
        reduced(x.mean(axes), keepdims)
    }
}

impl Number for i64 {
    fn of(value: &Value) -> i64 {
        value.as_i64().unwrap_or_else(|| value.as_f64().expect("a number") as i64)
    }

    fn generated(integer: i64) -> i64 {
        integer
    }

    fn agrees(self, expected: i64) -> bool {
        self == expected
    }

    fn whole(self) -> i64 {
        self
    }

    /// NumPy's sums and products of integers wrap around.
    fn cumsum(x: BoxExpr<'_, i64>, axis: usize) -> lensor::Result<BoxExpr<'_, i64>> {
        Ok(x.scan(axis, WrappingSum).eval()?.lazy().boxed())
    }

    fn sum(x: BoxExpr<'_, i64>, axes: Axes, keepdims: bool) -> lensor::Result<BoxExpr<'_, i64>> {
        reduced(x.reduce(axes, WrappingSum), keepdims)
    }

    fn prod(x: BoxExpr<'_, i64>, axes: Axes, keepdims: bool) -> lensor::Result<BoxExpr<'_, i64>> {
        reduced(x.reduce(axes, WrappingProduct), keepdims)
    }

    /// Programs of integers have whole means only.
    fn mean(x: BoxExpr<'_, i64>, axes: Axes, keepdims: bool) -> lensor::Result<BoxExpr<'_, i64>> {
        reduced(x.mean(axes).map(|mean| mean as i64), keepdims)
    }
}

type Input<T> = Tensor<BoxReader<'static, T>>;

fn array<T: Number>(value: &Value) -> lensor::Result<Input<T>> {
    let shape = Shape::from(extents(&value["shape"]));
    if let Some(fill) = value.get("fill") {
        let values = value["values"].as_array().expect("values").iter().map(T::of).collect();
        let indexes = extents(&value["indexes"]);
        let storage = Sparse::from_sorted(shape.count()?, T::of(fill), indexes, values)?;
        return Ok(Tensor::new(shape, storage)?.erase());
    }
    let data = match value.get("gen") {
        Some(seed) => {
            let seed = seed.as_u64().expect("a seed");
            let number = |i: u64| (((i * 2654435761 + seed * 40503) % (1 << 32)) >> 7) % 1001;
            (0..shape.count()? as u64).map(|i| T::generated(number(i) as i64 - 500)).collect()
        }
        None => value["data"].as_array().expect("data").iter().map(T::of).collect(),
    };
    Ok(Tensor::from_vec(shape, data)?.erase())
}

fn program<T: Number>(vector: &Value) -> Result<(), String> {
    let expected = &vector["expect"];
    let inputs: Vec<(&str, Input<T>)> = inputs(vector)
        .into_iter()
        .map(|(name, value)| Ok((name, array(value)?)))
        .collect::<lensor::Result<_>>()
        .map_err(|e| e.to_string())?;
    let built = build(&vector["program"], &inputs);
    let result = built.clone().and_then(|e| e.eval());
    match (result, expected.get("error")) {
        (Err(_), Some(_)) => Ok(()),
        (Ok(_), Some(why)) => Err(format!("accepted, should refuse: {why}")),
        (Err(error), None) => Err(error.to_string()),
        (Ok(result), None) => {
            compare(&result, expected)?;
            match built {
                // What has sparse inputs only is computed from their entries as well.
                Ok(e) if e.is_sparse() => {
                    let sparse = e.eval_sparse().map_err(|error| error.to_string())?;
                    compare(&sparse.to_tensor().map_err(|error| error.to_string())?, expected)
                }
                _ => Ok(()),
            }
        }
    }
}

fn compare<T: Number>(result: &Tensor<Vec<T>>, expected: &Value) -> Result<(), String> {
    if result.shape().to_vec() != extents(&expected["shape"]) {
        return Err(format!("shape {:?}, expected {}", result.shape(), expected["shape"]));
    }
    if let Some(checksum) = expected.get("checksum") {
        let sum = result.storage().iter().enumerate().fold(0_i64, |sum, (i, value)| {
            sum.wrapping_add(value.whole().wrapping_mul((i % 1021 + 1) as i64))
        });
        let checksum = checksum.as_i64().expect("a checksum");
        return if sum == checksum {
            Ok(())
        } else {
            Err(format!("checksum {sum}, expected {checksum}"))
        };
    }
    let expected: Vec<T> =
        expected["data"].as_array().ok_or("no data")?.iter().map(T::of).collect();
    for (i, (found, expected)) in result.storage().iter().zip(&expected).enumerate() {
        if !found.agrees(*expected) {
            return Err(format!("element {i} is {found:?}, expected {expected:?}"));
        }
    }
    if result.len() == expected.len() { Ok(()) } else { Err(format!("{} elements", result.len())) }
}

/// The results of a reduction, sparse if the operand is.
fn reduced<'a, T: Number, E: Expr, R: Reducer<E::Elem, Out = T>>(
    reduction: Reduction<E, R>,
    keepdims: bool,
) -> lensor::Result<BoxExpr<'a, T>> {
    let reduction = if keepdims { reduction.keepdims() } else { reduction };
    Ok(match reduction.eval_sparse() {
        Ok(sparse) => sparse.lazy().boxed(),
        Err(_) => reduction.eval()?.lazy().boxed(),
    })
}

fn build<'a, T: Number>(
    program: &Value,
    inputs: &'a [(&str, Input<T>)],
) -> lensor::Result<BoxExpr<'a, T>> {
    let parts = match program {
        Value::String(name) => {
            let input = inputs.iter().find(|(input, _)| input == name).expect("an input");
            return Ok(input.1.view().boxed());
        }
        Value::Array(parts) => parts,
        number => return Ok(Lazy::new(T::of(number)).boxed()),
    };
    let x = || build(&parts[1], inputs);
    let y = || build(&parts[2], inputs);
    Ok(match parts[0].as_str().expect("an operation") {
        "neg" => (-x()?).boxed(),
        "abs" => x()?.abs().boxed(),
        "add" => (x()? + y()?).boxed(),
        "sub" => (x()? - y()?).boxed(),
        "mul" => (x()? * y()?).boxed(),
        "min" => x()?.min(y()?).boxed(),
        "max" => x()?.max(y()?).boxed(),
        "transpose" => x()?.transpose(&extents(&parts[2]))?,
        "select" => x()?.select(parts[2..].iter().map(selector).collect::<Vec<_>>())?,
        "broadcast" => x()?.broadcast(extents(&parts[2]))?,
        "rotate" => x()?.rotate(&integers(&parts[2]))?,
        "reshape" => x()?.reshape(extents(&parts[2]))?,
        fold @ ("sum" | "prod" | "mean" | "min_over" | "max_over") => {
            let axes = match &parts[2]["axes"] {
                Value::Null => Axes::All,
                axes => Axes::from(extents(axes)),
            };
            let keepdims = parts[2]["keepdims"].as_bool().unwrap_or(false);
            let x = x()?;
            match fold {
                "sum" => T::sum(x, axes, keepdims)?,
                "prod" => T::prod(x, axes, keepdims)?,
                "mean" => T::mean(x, axes, keepdims)?,
                "min_over" => reduced(x.min_over(axes), keepdims)?,
                _ => reduced(x.max_over(axes), keepdims)?,
            }
        }
        "sort" => x()?.sort(axis(&parts[2]), order(&parts[2]))?.lazy().boxed(),
        "cumsum" => T::cumsum(x()?, axis(&parts[2]))?,
        "argsort" => {
            let positions = x()?.argsort(axis(&parts[2]), order(&parts[2]))?;
            positions.map(|position| T::generated(position as i64)).boxed()
        }
        other => panic!("unknown operation {other}"),
    })
}

fn axis(options: &Value) -> usize {
    options["axis"].as_u64().expect("an axis") as usize
}

fn order(options: &Value) -> SortOrder {
    match options["descending"] {
        Value::Bool(true) => SortOrder::Descending,
        _ => SortOrder::Ascending,
    }
}
