//! Operations on ragged operands.

use super::super::arrays::Element;
use super::super::json::{Fault, Outcome, extent};
use super::super::programs::{axes, flag, known, order};
use super::Program;
use super::values::{Held, Operand, Typed, dense, each, typed};
use lensor::Align;
use lensor::dtype::{Arithmetic, Order, Signed};
use lensor::ragged::{
    ElementwiseRagged, LanesRagged, Ragged, RaggedExpr, RaggedReduction, ReduceRagged, Stretch,
    align, concat,
};
use lensor::reduce::{Product, Reducer, Sum, WrappingProduct, WrappingSum};
use serde_json::Value;

/// A computation on numbers, with the reducers of sums and products: NumPy's of integers wrap around.
macro_rules! numbers {
    ($operand:expr, ($x:ident, $sum:ident, $product:ident) => $result:expr) => {
        match $operand {
            Typed::F64(x) => {
                let ($x, $sum, $product) = (x.rows()?, Sum, Product);
                $result
            }
            Typed::I64(x) => {
                let ($x, $sum, $product) = (x.rows()?, WrappingSum, WrappingProduct);
                $result
            }
            Typed::Bool(_) => Err(Fault::vector("bool where numbers are computed")),
        }
    };
}

/// The result of an operator.
macro_rules! operator {
    ($op:expr, $x:expr, $y:expr, $stretch:expr) => {
        match $op {
            "add" => typed(($x + $y).eval_with($stretch)?),
            "sub" => typed(($x - $y).eval_with($stretch)?),
            "mul" => typed(($x * $y).eval_with($stretch)?),
            "min" => typed($x.minimum($y).eval_with($stretch)?),
            "max" => typed($x.maximum($y).eval_with($stretch)?),
            "less" => typed($x.less($y).eval_with($stretch)?),
            op => return Err(Fault::vector(format!("unknown operator {op}"))),
        }
    };
}

/// Elements of arithmetic.
trait Numeric: Held + Arithmetic + Order + Signed {
    /// The result of an operator whose right side is a bare number.
    fn beside(self, op: &str, left: &Ragged<Vec<Self>>, stretch: Stretch) -> Outcome<Typed>;
}

macro_rules! numeric {
    ($($type:ty)*) => { $(
        impl Numeric for $type {
            fn beside(self, op: &str, left: &Ragged<Vec<Self>>, stretch: Stretch) -> Outcome<Typed> {
                Ok(operator!(op, left, self, stretch))
            }
        }
    )* };
}
numeric!(f64 i64);

impl Typed {
    pub(super) fn floats(self) -> Outcome<Operand<f64>> {
        Ok(match self {
            Self::F64(x) => x,
            Self::I64(Operand::Number(x)) => Operand::Number(x as f64),
            Self::I64(Operand::Rows(x)) => Operand::Rows(Box::new(x.map(|x| x as f64).eval()?)),
            Self::Bool(_) => return Err(Fault::vector("bool where numbers are computed")),
        })
    }
}

impl Program<'_> {
    pub(super) fn operation(&self, op: &str, arguments: &[Value]) -> Outcome<Typed> {
        let none = Value::Null;
        match (op, arguments) {
            ("assign", [destination, source]) => self.assign(destination, source),
            ("concat", [axis, operands @ ..]) => self.concat(extent(axis)?, operands),
            ("align_left", [Value::String(op), x, y]) => self.binary(op, x, y, true),
            ("neg" | "abs", [x]) => match self.build(x)? {
                Typed::F64(x) => self.unary(op, x),
                Typed::I64(x) => self.unary(op, x),
                Typed::Bool(_) => Err(Fault::vector(format!("{op} of bool"))),
            },
            ("padded", [x, axis, longest, fill]) => {
                let longest = (!longest.is_null()).then(|| extent(longest)).transpose()?;
                each!(self.build(x)?, x => padded(x, extent(axis)?, longest, fill))
            }
            ("mask", [x, axis]) => {
                each!(self.build(x)?, x => Ok(typed(dense(x.mask(extent(axis)?)?)?)))
            }
            (
                "sum" | "prod" | "mean" | "min_over" | "max_over" | "argmin" | "argmax",
                [x, options @ ..],
            ) if options.len() < 2 => {
                self.fold(op, self.build(x)?, options.first().unwrap_or(&none))
            }
            ("cumsum" | "cumprod" | "sort" | "argsort" | "top_k", [x, options]) => {
                self.lanes(op, self.build(x)?, options)
            }
            ("add" | "sub" | "mul" | "min" | "max" | "less", [x, y]) => {
                self.binary(op, x, y, false)
            }
            _ => {
                let count = arguments.len();
                Err(Fault::vector(format!("unknown operation {op} of {count} arguments")))
            }
        }
    }

    fn unary<T: Numeric>(&self, op: &str, x: Operand<T>) -> Outcome<Typed> {
        let x = x.rows()?;
        Ok(typed(match op {
            "neg" => (-&x).eval_with(self.stretch)?,
            _ => x.abs().eval_with(self.stretch)?,
        }))
    }

    fn binary(&self, op: &str, x: &Value, y: &Value, left: bool) -> Outcome<Typed> {
        match (self.build(x)?, self.build(y)?) {
            (Typed::I64(x), Typed::I64(y)) => self.operator(op, x, y, left),
            (x, y) => self.operator(op, x.floats()?, y.floats()?, left),
        }
    }

    /// An operator whose right side is a number, a dense tensor or a ragged one; on the left all are ragged.
    fn operator<T: Numeric>(
        &self,
        op: &str,
        x: Operand<T>,
        y: Operand<T>,
        left: bool,
    ) -> Outcome<Typed> {
        let (x, stretch) = (x.rows()?, self.stretch);
        if left {
            let (x, y) = align(Align::Left, x, y.rows()?)?;
            return Ok(operator!(op, x, y, stretch));
        }
        match y {
            Operand::Number(y) => y.beside(op, &x, stretch),
            Operand::Rows(y) => Ok(match y.as_tensor() {
                Ok(y) => operator!(op, &x, &y, stretch),
                Err(_) => operator!(op, &x, &*y, stretch),
            }),
        }
    }

    fn concat(&self, axis: usize, operands: &[Value]) -> Outcome<Typed> {
        fn joined<T: Held>(axis: usize, operands: Vec<Operand<T>>) -> Outcome<Typed> {
            let rows = operands.into_iter().map(Operand::rows).collect::<Outcome<Vec<_>>>()?;
            Ok(typed(concat(axis, rows)?.map(|x| x).eval()?))
        }
        let operands = operands.iter().map(|x| self.build(x)).collect::<Outcome<Vec<_>>>()?;
        if operands.iter().all(|x| matches!(x, Typed::Bool(_))) {
            let bools = |x| if let Typed::Bool(x) = x { Some(x) } else { None };
            return joined(axis, operands.into_iter().filter_map(bools).collect());
        }
        if operands.iter().all(|x| matches!(x, Typed::I64(_))) {
            let integers = |x| if let Typed::I64(x) = x { Some(x) } else { None };
            return joined(axis, operands.into_iter().filter_map(integers).collect());
        }
        joined(axis, operands.into_iter().map(Typed::floats).collect::<Outcome<Vec<_>>>()?)
    }

    fn fold(&self, op: &str, x: Typed, options: &Value) -> Outcome<Typed> {
        known(options, &["axes", "keepdims", "or"])?;
        let (axes, keepdims) = (axes(options)?, flag(options, "keepdims")?);
        let run = Fold { keepdims, or: options.get("or"), stretch: self.stretch };
        numbers!(x, (x, sum, product) => match op {
            "sum" => run.typed(x.fold(axes, sum)),
            "prod" => run.typed(x.fold(axes, product)),
            "mean" => run.typed(x.mean(axes)),
            "min_over" => run.typed(x.min(axes)),
            "max_over" => run.typed(x.max(axes)),
            "argmin" => run.positions(x.argmin(axes)),
            _ => run.positions(x.argmax(axes)),
        })
    }

    fn lanes(&self, op: &str, x: Typed, options: &Value) -> Outcome<Typed> {
        known(
            options,
            if op == "top_k" { &["axis", "descending", "k"] } else { &["axis", "descending"] },
        )?;
        let (axis, order, stretch) = (extent(&options["axis"])?, order(options)?, self.stretch);
        numbers!(x, (x, sum, product) => Ok(match op {
            "cumsum" => typed(x.scan(axis, sum).eval_with(stretch)?),
            "cumprod" => typed(x.scan(axis, product).eval_with(stretch)?),
            "argsort" => positions(x.argsort(axis, order).eval_with(stretch)?)?,
            "top_k" => typed(x.top_k(axis, extent(&options["k"])?, order).eval_with(stretch)?),
            _ => typed(x.sort(axis, order).eval_with(stretch)?),
        }))
    }
}

fn padded<T: Held>(
    x: Ragged<Vec<T>>,
    axis: usize,
    longest: Option<usize>,
    fill: &Value,
) -> Outcome<Typed> {
    Ok(typed(dense(x.padded(axis, longest, T::of(fill)?)?)?))
}

/// Positions as integers.
fn positions(found: Ragged<Vec<usize>>) -> Outcome<Typed> {
    Ok(typed(found.map(|k| k as i64).eval()?))
}

/// The options of a reduction.
struct Fold<'v> {
    keepdims: bool,
    or: Option<&'v Value>,
    stretch: Stretch,
}

impl Fold<'_> {
    /// Evaluates a reduction; `or` reads the result of rows without items.
    fn run<E: RaggedExpr, R: Reducer<E::Elem>>(
        &self,
        reduction: RaggedReduction<E, R>,
        or: impl Fn(&Value) -> Outcome<R::Out>,
    ) -> Outcome<Ragged<Vec<R::Out>>> {
        let reduction = if self.keepdims { reduction.keepdims() } else { reduction };
        Ok(match self.or {
            Some(value) => reduction.or(or(value)?).eval_with(self.stretch)?,
            None => reduction.eval_with(self.stretch)?,
        })
    }

    fn typed<E: RaggedExpr, R: Reducer<E::Elem, Out: Held>>(
        &self,
        reduction: RaggedReduction<E, R>,
    ) -> Outcome<Typed> {
        Ok(typed(self.run(reduction, Element::of)?))
    }

    /// Positions, or an integer for rows without items: one below 0 is there and back.
    fn positions<E: RaggedExpr, R: Reducer<E::Elem, Out = usize>>(
        &self,
        reduction: RaggedReduction<E, R>,
    ) -> Outcome<Typed> {
        positions(self.run(reduction, |value| Ok(i64::of(value)? as usize))?)
    }
}
