//! Sums of products, by Einstein's convention.

mod plan;
mod subscripts;

use super::stack;
use crate::compute::{Compute, Deferred};
use crate::dtype::Arithmetic;
use crate::error::{Error, Result};
use crate::expr::sealed::Sealed;
use crate::expr::{
    Apply, BoxExpr, Explanation, Expr, IntoExpr, Lazy, MulOp, Prepare, bytes_read, check_operand,
    deferred_of, fill_all, first_fault, has_entries,
};
use crate::kernel::inner::collect;
use crate::kernel::{self, Filled};
use crate::map::AddressMap;
use crate::memory::{for_tuples, list, push, try_with_capacity};
use crate::ops::products::{first, product, second};
use crate::shape::Shape;
use crate::storage::Constant;
use crate::tensor::Tensor;
use plan::{Labels, Parts, Plan, Step, View};
use std::mem::MaybeUninit;

/// The sum of products of operands over named axes, by Einstein's convention. Follows NumPy's `einsum`.
///
/// `subscripts` name the axes of each operand by letters, and after `->` those of the result: axes of one letter go
/// together, and the sum goes over those that the result has not. A letter twice in one operand is its
/// diagonal. Without `->` the result has the letters that stand once, in the order of the alphabet. `...` stands for
/// any axes more, which stretch to one another as operands of operators do, and come first in a result that is
/// not given. Spaces mean nothing.
///
/// Operands are a tuple of one to six, an array or a `Vec` of what can stand in expressions, all of one element type.
/// What has several is multiplied pair by pair, and rounded to its type, each time the two that give the smallest
/// result; pairs are products of matrices as [`matmul`](super::Linalg::matmul) computes them, and nothing else is
/// copied but their results. What one operand alone has of axes that are summed over is summed up first, so that where
/// elements or sums are infinite the result may be another than that of term by term: infinite, for example, where two
/// terms are infinities of opposite signs. A sum over an axis without elements is 0, whatever else there is, and no
/// element is read. The time to choose the pairs is cubic in the number of operands, seconds for a thousand.
/// Integers wrap. Sparse operands are read as dense ones, up to 2^33 elements, see [`Lazy::densely`];
/// [`Tensor::times_dense`], [`Tensor::times_sparse`] and [`Tensor::contract`] multiply entries.
///
/// # Errors
///
/// The shape, and with it the result, is [`Error::Subscripts`] if the subscripts cannot be read or do not fit the
/// operands, [`Error::Contraction`] if axes of one letter differ in extent (an extent of 1 does not stretch but below
/// an ellipsis), [`Error::Operands`] if ellipses do not align, and [`Error::RankLimit`] and [`Error::ShapeOverflow`]
/// for a result or a product on the way that is too large: products of matrices have at most 62 axes in front of theirs.
///
/// ```
/// use lensor::linalg::einsum;
/// use lensor::Tensor;
/// let a = Tensor::from_nested([[1, 2], [3, 4]])?;
/// let x = Tensor::from(vec![10, 1]);
/// assert_eq!(einsum("ij,j->i", (&a, &x)).to_vec()?, [12, 34]);
/// assert_eq!(einsum("ij->ji", [&a]).to_vec()?, [1, 3, 2, 4]);
/// assert_eq!(einsum("ii", [&a]).item()?, 5);
/// // x A A x
/// assert_eq!(einsum("i,ij,jk,k->", (&x, &a, &a, &x)).item()?, 972);
///
/// let stack = Tensor::from_vec([3, 2, 2], (0..12).collect())?;
/// assert_eq!(einsum("...ij,...jk->...ik", (&stack, &a)).shape()?, [3, 2, 2]);
/// assert_eq!(
///     einsum("ij,k->il", (&a, &x)).shape().unwrap_err().to_string(),
///     "subscripts \"ij,k->il\": `l` of the result is in no operand"
/// );
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn einsum<'a, O: EinsumOperands<'a>>(
    subscripts: &str,
    operands: O,
) -> Deferred<Einsum<'a, O::Elem>> {
    let operands = operands.into_boxes();
    let plan = operands.as_ref().map_err(Error::copy).and_then(|operands| {
        let shapes: Result<Vec<Shape>> = operands.iter().map(Lazy::shape).collect();
        Plan::new(subscripts, &shapes?)
    });
    Deferred::new(Einsum { operands: operands.unwrap_or_default(), plan })
}

/// A tuple, an array or a `Vec` of operands of one element type, for [`einsum`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not operands of one element type",
    note = "give a tuple of one to six operands, an array or a `Vec`; of one operand alone it is `(&a,)`"
)]
pub trait EinsumOperands<'a> {
    /// Type of the elements.
    type Elem: Arithmetic + 'static;

    /// The operands as expressions of one type.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    fn into_boxes(self) -> Result<Vec<BoxExpr<'a, Self::Elem>>>;
}

macro_rules! tuples {
    ($count:literal: $First:ident $first:ident $one:tt $(, $Next:ident $next:ident $k:tt)*) => {
        impl<'a, $First, $($Next),*> EinsumOperands<'a> for ($First, $($Next,)*)
        where
            $First: IntoExpr<Elem: Arithmetic + 'static, Expr: 'a>,
            $($Next: IntoExpr<Elem = $First::Elem, Expr: 'a>,)*
        {
            type Elem = $First::Elem;

            fn into_boxes(self) -> Result<Vec<BoxExpr<'a, Self::Elem>>> {
                let ($first, $($next,)*) = self;
                list([Lazy($first.into_expr()).boxed(), $(Lazy($next.into_expr()).boxed()),*].into_iter())
            }
        }
    };
}
for_tuples!(tuples 6);

impl<'a, X, const N: usize> EinsumOperands<'a> for [X; N]
where
    X: IntoExpr<Elem: Arithmetic + 'static, Expr: 'a>,
{
    type Elem = X::Elem;

    fn into_boxes(self) -> Result<Vec<BoxExpr<'a, X::Elem>>> {
        list(self.into_iter().map(|operand| Lazy(operand.into_expr()).boxed()))
    }
}

impl<'a, X> EinsumOperands<'a> for Vec<X>
where
    X: IntoExpr<Elem: Arithmetic + 'static, Expr: 'a>,
{
    type Elem = X::Elem;

    fn into_boxes(self) -> Result<Vec<BoxExpr<'a, X::Elem>>> {
        list(self.into_iter().map(|operand| Lazy(operand.into_expr()).boxed()))
    }
}

/// A sum of products over named axes, see [`einsum`].
#[derive(Debug, Clone)]
pub struct Einsum<'a, T> {
    operands: Vec<BoxExpr<'a, T>>,
    plan: Result<Plan>,
}

/// The result of a step: an expression, or a stack of matrices, the other one, and what is added up of both.
type Ready<'a, T> = (BoxExpr<'a, T>, Option<(BoxExpr<'a, T>, Added)>);

/// What is added up: products of elements, or those of one side alone.
enum Added {
    Products,
    First,
    Second,
}

impl Added {
    /// Computes the sums over the axis that matrices of two stacks have in common.
    fn fill<T: Arithmetic + 'static>(
        &self,
        a: &BoxExpr<'_, T>,
        b: &BoxExpr<'_, T>,
        out: &mut [MaybeUninit<T>],
    ) -> Result<Filled> {
        match self {
            Self::Products => stack::fill(a, b, out, product),
            Self::First => stack::fill(a, b, out, first),
            Self::Second => stack::fill(a, b, out, second),
        }
    }
}

impl<'a, T: Arithmetic + 'static> Einsum<'a, T> {
    fn plan(&self) -> Result<&Plan> {
        self.plan.as_ref().map_err(Error::copy)
    }

    /// Whether there are no products, so that no operand is read.
    fn is_empty_sum(&self) -> bool {
        self.plan.as_ref().is_ok_and(|plan| plan.is_empty_sum)
    }

    /// The operands, each axis of which has a name of its own.
    fn terms(&self, plan: &Plan) -> Result<Vec<(BoxExpr<'a, T>, Labels)>> {
        let mut terms = try_with_capacity(self.operands.len())?;
        for ((operand, views), labels) in self.operands.iter().zip(&plan.views).zip(&plan.labels) {
            let mut term = operand.clone();
            for view in views {
                term = match *view {
                    View::Diagonal(a, b) => term.diagonal(a, b)?,
                    View::Remove(axis) => term.remove_axis(axis)?,
                };
            }
            terms.push((term, labels.clone()));
        }
        Ok(terms)
    }

    /// Computes the result; errors of elements are those of views of the operands.
    fn fill_terms(&self, out: &mut [MaybeUninit<T>]) -> Result<Filled> {
        let plan = self.plan()?;
        let mut terms = self.terms(plan)?;
        let mut last = None;
        for (k, next) in plan.steps.iter().enumerate() {
            let labels = next.result();
            let term = match step(plan, next, &mut terms)? {
                (term, None) => term,
                (a, Some((b, added))) if k + 1 == plan.steps.len() => {
                    last = Some((a, b, added));
                    break;
                }
                (a, Some((b, added))) => {
                    let map = AddressMap::row_major(&plan.shape(&labels)?)?;
                    let data = collect(map.count(), |out| added.fill(&a, &b, out))?;
                    Tensor::from_parts(map, data).lazy().boxed()
                }
            };
            // A sum keeps the place of what it sums.
            let place = if let Step::Sum { term, .. } = next { *term } else { terms.len() };
            push(&mut terms, (term, labels))?;
            terms[place..].rotate_right(1);
        }
        match (last, terms.pop()) {
            (Some((a, b, added)), _) => added.fill(&a, &b, out),
            (None, Some((term, labels))) => {
                let term = term.transpose(axes(&labels, plan.result.iter()))?;
                fill_all(&term.0, out)
            }
            (None, None) => Err(Error::OutOfSpan { span: 0..out.len(), len: 0 }),
        }
    }
}

/// A term with its axes in another order, and some of them one: `groups` of axes become one each.
fn grouped<'a, T: Arithmetic + 'a>(
    plan: &Plan,
    (term, labels): (BoxExpr<'a, T>, Labels),
    front: &Labels,
    groups: [&Labels; 2],
) -> Result<BoxExpr<'a, T>> {
    let order = axes(&labels, front.iter().chain(groups[0]).chain(groups[1]));
    let term = if order.is_sorted() { term } else { term.transpose(order)? };
    if groups.iter().all(|group| group.len() == 1) {
        return Ok(term);
    }
    let mut shape = plan.shape(front)?.to_vec();
    shape.extend(groups.map(|group| plan.count(group)));
    term.reshape(shape)
}

/// Where labels stand.
fn axes<'l>(labels: &[u8], order: impl Iterator<Item = &'l u8>) -> Vec<usize> {
    let axes = order.filter_map(|label| labels.iter().position(|own| own == label));
    axes.collect()
}

/// Takes a step: the terms that it needs are gone, and its result is named.
fn step<'a, T: Arithmetic + 'static>(
    plan: &Plan,
    step: &Step,
    terms: &mut Vec<(BoxExpr<'a, T>, Labels)>,
) -> Result<Ready<'a, T>> {
    let none = &Labels::new();
    match step {
        Step::Sum { term, kept, summed } => {
            let own = terms.remove(*term);
            // Of the other side only the extent counts.
            let count = plan.count(summed);
            let other = Tensor::new([count], Constant::new(count, T::one()))?.lazy().boxed();
            // What is copied least: a sum over the last axis has it last.
            if own.1.last().is_some_and(|label| kept.contains(label)) {
                let term = grouped(plan, own, none, [summed, kept])?;
                return Ok((other.insert_axis(0)?, Some((term, Added::Second))));
            }
            let term = grouped(plan, own, none, [kept, summed])?;
            Ok((term, Some((other.insert_axis(1)?, Added::First))))
        }
        Step::Pair { terms: [i, j], parts: Parts { batch, summed, left, right } } => {
            let (b, a) = (terms.remove(*j), terms.remove(*i));
            if !summed.is_empty() {
                let a = grouped(plan, a, batch, [left, summed])?;
                let b = grouped(plan, b, batch, [summed, right])?;
                return Ok((a, Some((b, Added::Products))));
            }
            let mut stretched = a.0.transpose(axes(&a.1, batch.iter().chain(left)))?;
            stretched.add_axes(right.len())?;
            let mut other = b.0.transpose(axes(&b.1, batch.iter().chain(right)))?;
            for _ in left {
                other = other.insert_axis(batch.len())?;
            }
            Ok((Lazy(Apply::new(MulOp, (stretched.0, other.0))).boxed(), None))
        }
    }
}

impl<T> Sealed for Einsum<'_, T> {}

impl<T: Arithmetic + 'static> Compute for Einsum<'_, T> {
    type Elem = T;

    fn shape(&self) -> Result<Shape> {
        let plan = self.plan()?;
        plan.shape(&plan.result)
    }

    /// The last product of matrices gives its axes in its own order.
    fn layout(&self) -> Result<AddressMap> {
        let plan = self.plan()?;
        match plan.steps.last().filter(|step| step.is_product()) {
            None => AddressMap::row_major(&plan.shape(&plan.result)?),
            Some(last) => {
                let labels = last.result();
                let map = AddressMap::row_major(&plan.shape(&labels)?)?;
                map.transpose(axes(&labels, plan.result.iter()))
            }
        }
    }

    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        if !self.is_empty_sum() {
            self.operands.iter().for_each(|operand| deferred_of(operand, visit));
        }
    }

    fn check_reads(&self) -> Result<()> {
        if self.is_empty_sum() || !self.operands.iter().any(|operand| has_entries(operand)) {
            return Ok(());
        }
        // Of an operand whose diagonal is taken no other elements are read.
        self.terms(self.plan()?)?.iter().try_for_each(|(term, _)| check_operand(term))
    }

    fn depth(&self) -> usize {
        self.operands.iter().map(Expr::depth).max().unwrap_or(0)
    }

    fn fill(&self, out: &mut [MaybeUninit<T>]) -> Result<Filled> {
        if out.is_empty() {
            return Filled::nothing(out);
        }
        if self.plan()?.is_empty_sum {
            let zero = T::one().minus(T::one());
            return fill_all(&Tensor::constant(self.shape()?, zero)?.lazy().0, out);
        }
        self.fill_terms(out).map_err(|error| {
            // That of an element of a view is told as that of the operand; whose it is, is not known if none fails again.
            let mut operands = self.operands.iter();
            let first = operands.find_map(|operand| first_fault(operand, &error));
            first.unwrap_or_else(|| error.without_index())
        })
    }

    fn explain(&self) -> Result<Explanation> {
        let plan = self.plan()?;
        let element = std::any::type_name::<T>();
        let shapes = self.operands.iter().map(Lazy::shape).collect::<Result<Vec<Shape>>>()?;
        let mut read = self.operands.iter().fold(0, |n, e| bytes_read(&e.0).saturating_add(n));
        let (mut written, mut lines, mut threads) = (0_usize, Vec::new(), 1);
        for (k, step) in plan.steps.iter().enumerate() {
            let (result, size) = (step.result(), size_of::<T>());
            let bytes = plan.count(&result).saturating_mul(size);
            let is_last = k + 1 == plan.steps.len();
            let what = match step {
                Step::Sum { summed, .. } => format!("sum over {} elements", plan.count(summed)),
                Step::Pair { parts: Parts { batch, left, right, summed }, .. } => format!(
                    "{} of {} x {} times {} x {}",
                    plan.count(batch),
                    plan.count(left),
                    plan.count(summed),
                    plan.count(summed),
                    plan.count(right)
                ),
            };
            let kind = if step.is_product() { "product" } else { "elementwise product" };
            let shape = plan.shape(&result)?;
            lines.push(format!("step {}: {kind}, {what}, to {shape:?}", k + 1));
            if step.is_product() || is_last {
                written = written.saturating_add(bytes);
                read = read.saturating_add(if is_last { 0 } else { bytes });
            }
            if bytes / size.max(1) >= kernel::PARALLEL {
                threads = kernel::threads();
            }
        }
        if plan.is_empty_sum {
            lines.push("zeros: an axis that is summed over has no elements".into());
            read = 0;
        } else if plan.steps.is_empty() {
            lines.push("copied: nothing is summed".into());
        }
        if plan.steps.is_empty() {
            written = plan.count(&plan.result).saturating_mul(size_of::<T>());
        }
        let what = format!("sum of products of {element} {shapes:?} to {:?}", self.shape()?);
        Ok(Explanation::report(what, lines, threads, [read, written]))
    }
}
