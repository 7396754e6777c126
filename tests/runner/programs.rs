//! Programs: built as lazy expressions.

use super::arrays::{self, Element, Input, array, dtype};
use super::json::{Fault, Outcome, extent, extents};
use super::views::{View, one, view};
use lensor::lanes::{Lanes, SortOrder};
use lensor::prelude::*;
use lensor::reduce::{Axes, IntoAxes, Reducer, Reduction, WrappingProduct, WrappingSum};
use lensor::scan::Scan;
use serde_json::Value;

/// Most elements that are computed one by one besides.
const MOST: usize = 1 << 22;

/// An expression of either element type.
#[derive(Clone)]
pub(crate) enum Typed<'a> {
    F64(BoxExpr<'a, f64>),
    I64(BoxExpr<'a, i64>),
}

use Typed::{F64, I64};

/// The same computation whatever the elements are, and a result of the same type.
macro_rules! each {
    ($operand:expr, $x:ident => $result:expr) => {
        match $operand {
            F64($x) => F64($result),
            I64($x) => I64($result),
        }
    };
}

impl Typed<'_> {
    fn shape(&self) -> lensor::Result<Shape> {
        match self {
            F64(x) => x.shape(),
            I64(x) => x.shape(),
        }
    }
}

type Named<'v, T> = (&'v str, Input<T>);

/// The inputs of a program, all of one element type.
pub(crate) enum Inputs<'v> {
    F64(Vec<Named<'v, f64>>),
    I64(Vec<Named<'v, i64>>),
}

/// Evaluates the program of a vector that should be refused.
pub(crate) fn evaluate(vector: &Value) -> Outcome<()> {
    run(vector, |result| {
        match result {
            F64(x) => drop(x.eval()?),
            I64(x) => drop(x.eval()?),
        }
        Ok(())
    })
}

/// Compares the result of the program of a vector with what is expected.
pub(crate) fn check(vector: &Value) -> Outcome<()> {
    run(vector, |result| match result {
        F64(x) => arrays::check(&x, &vector["expect"]),
        I64(x) => arrays::check(&x, &vector["expect"]),
    })
}

/// Runs the program on its inputs as they are stored, then once more on dense copies of sparse ones, if that
/// is not too large.
fn run(vector: &Value, check: impl Fn(Typed<'_>) -> Outcome<()>) -> Outcome<()> {
    let inputs = Inputs::of(vector)?;
    let program = vector.get("program").ok_or_else(|| Fault::vector("there is no program"))?;
    let stored = Program { inputs: &inputs, most: usize::MAX };
    let stored = stored.build(program).and_then(&check);
    let Some(dense) = inputs.dense()? else { return stored };
    let dense = Program { inputs: &dense, most: MOST };
    let dense = dense.build(program).and_then(|result| check(dense.within(result)?));
    match (stored, dense) {
        (Err(Fault::Refused(why)), Ok(())) => {
            Err(Fault::vector(format!("refused of sparse inputs only: {why}")))
        }
        (Ok(()), Err(Fault::Refused(why))) => {
            Err(Fault::vector(format!("refused of dense inputs only: {why}")))
        }
        (stored, Err(Fault::Large)) => stored,
        (stored, dense) => stored.and(dense),
    }
}

impl<'v> Inputs<'v> {
    fn of(vector: &'v Value) -> Outcome<Self> {
        let none = || Fault::vector("there are no inputs");
        let named = vector["inputs"].as_object().ok_or_else(none)?.iter();
        Self::named(vector, named.collect())
    }

    /// The inputs that are not masks.
    pub(crate) fn numbers(vector: &'v Value) -> Outcome<Self> {
        let none = || Fault::vector("there are no inputs");
        let named = vector["inputs"].as_object().ok_or_else(none)?.iter();
        Self::named(vector, named.filter(|(_, input)| input["dtype"] != "bool").collect())
    }

    fn named(vector: &Value, named: Vec<(&'v String, &Value)>) -> Outcome<Self> {
        let expected = &vector["expect"];
        let dtypes = named.iter().map(|(_, value)| dtype(value)).collect::<Outcome<Vec<_>>>()?;
        if dtypes.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(Fault::vector("inputs mix dtypes"));
        }
        let assumed = expected.get("dtype").and_then(Value::as_str).unwrap_or("f64");
        let named = || named.iter().map(|(name, value)| (name.as_str(), *value));
        Ok(match dtypes.first().copied().unwrap_or(assumed) {
            "i64" => Self::I64(named().map(read).collect::<Outcome<_>>()?),
            _ => Self::F64(named().map(read).collect::<Outcome<_>>()?),
        })
    }

    /// Dense copies, if some input is sparse and none too large.
    fn dense(&self) -> Outcome<Option<Self>> {
        fn copies<'v, T: Element>(inputs: &[Named<'v, T>]) -> Outcome<Option<Vec<Named<'v, T>>>> {
            let sparse = inputs.iter().any(|(_, input)| input.storage().stored().is_some());
            if !sparse || inputs.iter().any(|(_, input)| input.len() > MOST) {
                return Ok(None);
            }
            let dense = |input: &Input<T>| Tensor::from_vec(input.shape(), input.to_vec()?);
            let copies = inputs.iter().map(|(name, input)| Ok((*name, dense(input)?.erase())));
            copies.collect::<Outcome<_>>().map(Some)
        }
        Ok(match self {
            Self::F64(inputs) => copies(inputs)?.map(Self::F64),
            Self::I64(inputs) => copies(inputs)?.map(Self::I64),
        })
    }
}

fn read<'v, T: Element>((name, value): (&'v str, &Value)) -> Outcome<Named<'v, T>> {
    Ok((name, array(value)?))
}

pub(crate) struct Program<'p> {
    inputs: &'p Inputs<'p>,
    /// Most elements that are computed one by one.
    most: usize,
}

impl<'p> Program<'p> {
    /// Programs on inputs of any size.
    pub(crate) fn all(inputs: &'p Inputs<'p>) -> Self {
        Self { inputs, most: usize::MAX }
    }

    pub(crate) fn build(&self, program: &Value) -> Outcome<Typed<'p>> {
        let (op, arguments) = match program {
            Value::Array(parts) => match &parts[..] {
                [Value::String(op), arguments @ ..] => (op.as_str(), arguments),
                _ => return Err(Fault::vector(format!("{program} is not an operation"))),
            },
            Value::String(name) => return self.input(name),
            number => {
                return Ok(match self.inputs {
                    Inputs::F64(_) => F64(Lazy::new(f64::of(number)?).boxed()),
                    Inputs::I64(_) => I64(Lazy::new(i64::of(number)?).boxed()),
                });
            }
        };
        let count = if matches!(op, "add" | "sub" | "mul" | "min" | "max") { 2 } else { 1 };
        if arguments.len() < count {
            return Err(Fault::vector(format!("{op} lacks an operand")));
        }
        let (operands, options) = arguments.split_at(count);
        let operands = operands.iter().map(|x| self.build(x)).collect::<Outcome<Vec<_>>>()?;
        let result = self.operation(op, &operands, options)?;
        if !matches!(result.shape(), Err(Error::TooDeep { .. })) {
            return Ok(result);
        }
        // As the error says: a part of it is evaluated first.
        let operands = operands.into_iter().map(evaluated).collect::<Outcome<Vec<_>>>()?;
        self.operation(op, &operands, options)
    }

    fn input(&self, name: &str) -> Outcome<Typed<'p>> {
        fn found<'i, T>(inputs: &'i [Named<'_, T>], name: &str) -> Option<&'i Input<T>> {
            inputs.iter().find(|(input, _)| *input == name).map(|(_, input)| input)
        }
        let input = match self.inputs {
            Inputs::F64(inputs) => found(inputs, name).map(|input| F64(input.view().boxed())),
            Inputs::I64(inputs) => found(inputs, name).map(|input| I64(input.view().boxed())),
        };
        input.ok_or_else(|| Fault::vector(format!("unknown input {name}")))
    }

    fn operation(&self, op: &str, operands: &[Typed<'p>], options: &[Value]) -> Outcome<Typed<'p>> {
        let none = Value::Object(serde_json::Map::new());
        let optional = || if options.is_empty() { Ok(&none) } else { one(op, options) };
        let x = operands[0].clone();
        if let Some(view) = View::of(op, options)? {
            return Ok(each!(x, x => view!(x, view)?));
        }
        match op {
            "sum" | "prod" | "mean" | "min_over" | "max_over" => {
                self.fold(op, self.within(x)?, optional()?)
            }
            "sort" | "argsort" | "cumsum" => self.lanes(op, self.within(x)?, optional()?),
            _ if !options.is_empty() => {
                Err(Fault::vector(format!("{op} has {} arguments too many", options.len())))
            }
            "neg" => Ok(each!(x, x => (-x).boxed())),
            "abs" => Ok(each!(x, x => x.abs().boxed())),
            _ => match (x, operands.get(1).cloned()) {
                (F64(x), Some(F64(y))) => elementwise(op, x, y).map(F64),
                (I64(x), Some(I64(y))) => elementwise(op, x, y).map(I64),
                // Means of integers and their kin, as NumPy has it.
                (I64(x), Some(F64(y))) => elementwise(op, floats(x), y).map(F64),
                (F64(x), Some(I64(y))) => elementwise(op, x, floats(y)).map(F64),
                (_, None) => Err(Fault::vector(format!("unknown operation {op}"))),
            },
        }
    }

    fn fold(&self, op: &str, x: Typed<'p>, options: &Value) -> Outcome<Typed<'p>> {
        known(options, &["axes", "keepdims"])?;
        let axes = axes(options)?;
        let keepdims = flag(options, "keepdims")?;
        Ok(match (op, x) {
            // NumPy's sums and products of integers wrap around.
            ("sum", I64(x)) => I64(reduced(x.fold(axes, WrappingSum), keepdims)?),
            ("sum", F64(x)) => F64(reduced(x.sum(axes), keepdims)?),
            ("prod", I64(x)) => I64(reduced(x.fold(axes, WrappingProduct), keepdims)?),
            ("prod", F64(x)) => F64(reduced(x.prod(axes), keepdims)?),
            ("mean", I64(x)) => F64(reduced(x.mean(axes), keepdims)?),
            ("mean", F64(x)) => F64(reduced(x.mean(axes), keepdims)?),
            ("min_over", x) => each!(x, x => reduced(x.min(axes), keepdims)?),
            (_, x) => each!(x, x => reduced(x.max(axes), keepdims)?),
        })
    }

    fn lanes(&self, op: &str, x: Typed<'p>, options: &Value) -> Outcome<Typed<'p>> {
        known(options, &["axis", "descending"])?;
        let axis = extent(&options["axis"])?;
        let order = order(options)?;
        let positions = |found: Tensor<Vec<usize>>| I64(found.lazy().map(|k| k as i64).boxed());
        Ok(match (op, x) {
            ("cumsum", I64(x)) => I64(x.scan(axis, WrappingSum).eval()?.lazy().boxed()),
            ("cumsum", F64(x)) => F64(x.cumsum(axis).eval()?.lazy().boxed()),
            ("argsort", I64(x)) => positions(x.argsort(axis, order).eval()?),
            ("argsort", F64(x)) => positions(x.argsort(axis, order).eval()?),
            (_, x) => each!(x, x => x.sort(axis, order).eval()?.lazy().boxed()),
        })
    }

    /// What has as many elements as are computed one by one.
    fn within<'a>(&self, x: Typed<'a>) -> Outcome<Typed<'a>> {
        let large = x.shape().and_then(|shape| shape.count()).is_ok_and(|count| count > self.most);
        if large { Err(Fault::Large) } else { Ok(x) }
    }
}

fn elementwise<'a, T: Element + lensor::dtype::Arithmetic + lensor::dtype::Order>(
    op: &str,
    x: BoxExpr<'a, T>,
    y: BoxExpr<'a, T>,
) -> Outcome<BoxExpr<'a, T>> {
    Ok(match op {
        "add" => (x + y).boxed(),
        "sub" => (x - y).boxed(),
        "mul" => (x * y).boxed(),
        "min" => x.minimum(y).boxed(),
        "max" => x.maximum(y).boxed(),
        _ => return Err(Fault::vector(format!("unknown operation {op}"))),
    })
}

fn floats(x: BoxExpr<'_, i64>) -> BoxExpr<'_, f64> {
    x.map(|x| x as f64).boxed()
}

/// The same elements, computed; sparse if they are.
fn evaluated(x: Typed<'_>) -> Outcome<Typed<'_>> {
    Ok(each!(x, x => if x.is_sparse() {
        x.eval_sparse()?.lazy().boxed()
    } else {
        x.eval()?.lazy().boxed()
    }))
}

/// The results of a reduction, sparse if the operand is.
fn reduced<'a, T: Element, E: Expr, R: Reducer<E::Elem, Out = T>>(
    reduction: Reduction<E, R>,
    keepdims: bool,
) -> Outcome<BoxExpr<'a, T>> {
    let reduction = if keepdims { reduction.keepdims() } else { reduction };
    Ok(match reduction.eval_sparse() {
        Err(Error::WouldDensify { .. }) => reduction.eval()?.lazy().boxed(),
        sparse => sparse?.lazy().boxed(),
    })
}

/// The axes that are reduced.
pub(crate) fn axes(options: &Value) -> Outcome<Axes> {
    Ok(match &options["axes"] {
        Value::Null => Axes::All,
        axes => extents(axes)?.into_axes(),
    })
}

pub(crate) fn order(options: &Value) -> Outcome<SortOrder> {
    let descending = flag(options, "descending")?;
    Ok(if descending { SortOrder::Descending } else { SortOrder::Ascending })
}

/// Refuses options that have no meaning.
pub(crate) fn known(options: &Value, names: &[&str]) -> Outcome<()> {
    let mut options = options.as_object().into_iter().flatten();
    match options.find(|(name, _)| !names.contains(&name.as_str())) {
        Some((name, _)) => Err(Fault::vector(format!("there is no option {name:?}"))),
        None => Ok(()),
    }
}

pub(crate) fn flag(options: &Value, name: &str) -> Outcome<bool> {
    match &options[name] {
        Value::Null => Ok(false),
        Value::Bool(flag) => Ok(*flag),
        other => Err(Fault::vector(format!("{name} is {other}"))),
    }
}
