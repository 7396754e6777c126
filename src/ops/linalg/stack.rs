//! Stacks of matrices, and their products one by one.

use crate::dtype::Arithmetic;
use crate::error::{Error, Result};
use crate::expr::{Expr, Lazy};
use crate::kernel::gemm::{self, Matrix, Ring, Scratch};
use crate::kernel::{self, Filled, inner};
use crate::map::AddressMap;
use crate::shape::{Align, Shape};
use crate::storage::Writer;
use crate::tensor::Tensor;
use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Products of at most as many multiplications are summed up by loops of our own, and all with few rows
/// or columns.
const SMALL: usize = 12 * 12 * 12;
/// Fewest multiplications of a parallel task.
const GRAIN: usize = 1 << 18;
/// Fewest rows of a matrix that are a task of their own: each task reads the whole second matrix.
const GRAIN_ROWS: usize = 64;

/// Matrices of one shape, under strides in a slice.
struct Stack<'a, T: Clone> {
    data: Cow<'a, [T]>,
    offset: isize,
    /// Strides of the axes in front, 0 where they stretch.
    front: Vec<isize>,
    sides: [usize; 2],
    strides: [isize; 2],
}

impl<'a, T: Copy + Send + Sync> Stack<'a, T> {
    /// The matrices of an operand of rank 2 or more: where they lie if `fits` says that their strides
    /// will do, copied otherwise.
    fn new<E: Expr<Elem = T>>(
        operand: &'a Lazy<E>,
        front: &Shape,
        fits: impl Fn([isize; 2]) -> bool,
    ) -> Result<Self> {
        let lies = operand.in_memory().and_then(|(data, map)| {
            let strides = map.as_strided()?;
            fits(last_two(&strides.strides)).then_some((Cow::Borrowed(data), map.shape(), strides))
        });
        let (data, shape, strided) = match lies {
            Some(lies) => lies,
            None => {
                let (map, data) = operand.eval()?.into_parts();
                let strided =
                    map.as_strided().ok_or(Error::OutOfSpan { span: map.span(), len: 0 })?;
                (Cow::Owned(data), map.shape(), strided)
            }
        };
        let own = shape.rank() - 2;
        let missing = front.rank() - own;
        let stride = |axis: usize| axis.checked_sub(missing).map_or(0, |k| strided.strides[k]);
        Ok(Self {
            data,
            offset: strided.offset as isize,
            front: (0..front.rank()).map(stride).collect(),
            sides: [shape[own], shape[own + 1]],
            strides: last_two(&strided.strides),
        })
    }

    /// Matrix number `batch`, in row-major order of the axes in front.
    #[inline]
    fn matrix(&self, front: &[usize], batch: usize) -> Result<Matrix<'_, T>> {
        let (mut position, mut base) = (batch, self.offset);
        for (&extent, &stride) in front.iter().zip(&self.front).rev() {
            base = base.wrapping_add(stride.wrapping_mul((position % extent) as isize));
            position /= extent;
        }
        Matrix::new(&self.data, base, self.sides, self.strides)
    }
}

fn last_two(strides: &[isize]) -> [isize; 2] {
    match strides {
        [.., rows, columns] => [*rows, *columns],
        _ => [0, 0],
    }
}

/// The products of two stacks of matrices.
pub(super) struct Product<'a, T: Clone> {
    a: Stack<'a, T>,
    b: Stack<'a, T>,
    front: Shape,
    foreign: bool,
}

impl<'a, T: Arithmetic + 'static> Product<'a, T> {
    /// Of operands of rank 2 or more whose matrices can be multiplied.
    pub(super) fn new<A, B>(a: &'a Lazy<A>, b: &'a Lazy<B>) -> Result<Self>
    where
        A: Expr<Elem = T>,
        B: Expr<Elem = T>,
    {
        let (left, right) = (a.shape()?, b.shape()?);
        let split = |shape: &Shape| {
            let at = shape.rank() - 2;
            (Shape::from(&shape[..at]), [shape[at], shape[at + 1]])
        };
        let ((front_a, [m, k]), (front_b, [_, n])) = (split(&left), split(&right));
        let front = front_a.join(&front_b, Align::Right, 2)?;
        let narrow = m < gemm::NARROW || n < gemm::NARROW;
        let small = narrow || m.saturating_mul(k).saturating_mul(n) <= SMALL;
        let foreign = gemm::is_foreign::<T>() && !small;
        let fits =
            |columns: usize| move |strides: [isize; 2]| foreign || columns <= 1 || strides[1] == 1;
        Ok(Self {
            a: Stack::new(a, &front, fits(k))?,
            b: Stack::new(b, &front, fits(n))?,
            front,
            foreign,
        })
    }

    /// All of them, in a new tensor of this shape.
    pub(super) fn eval(&self, shape: &Shape) -> Result<Tensor<Vec<T>>> {
        let map = AddressMap::row_major(shape)?;
        let data = inner::collect(map.count(), |out| self.fill(out))?;
        Ok(Tensor::of_parts(map, data))
    }

    /// All of them, to a tensor of this shape.
    pub(super) fn assign_to<W: Writer<Elem = T>>(
        &self,
        shape: &Shape,
        out: &mut Tensor<W>,
    ) -> Result<()> {
        let expected = out.shape();
        if *shape != expected {
            return Err(Error::Destination { expected: expected.to_vec(), found: shape.to_vec() });
        }
        match out.contiguous_mut() {
            Some(part) => self.fill(inner::slots(part)).map(drop),
            None => out.assign(self.eval(shape)?),
        }
    }

    fn fill(&self, out: &mut [MaybeUninit<T>]) -> Result<Filled> {
        let batches = 0..self.front.count()?;
        let rows = 0..self.a.sides[0];
        let work = self.work(&batches, &rows);
        let threads = kernel::threads();
        let task = if threads > 1 { (work / (4 * threads)).max(GRAIN) } else { usize::MAX };
        self.part(batches, rows, task, out)
    }

    fn work(&self, batches: &Range<usize>, rows: &Range<usize>) -> usize {
        let [k, n] = self.b.sides;
        batches.len().saturating_mul(rows.len()).saturating_mul(k.max(1)).saturating_mul(n)
    }

    /// Some matrices, or some rows of one of them; in halves as long as they are more than one task.
    fn part(
        &self,
        batches: Range<usize>,
        rows: Range<usize>,
        task: usize,
        out: &mut [MaybeUninit<T>],
    ) -> Result<Filled> {
        let n = self.b.sides[1];
        let large = self.work(&batches, &rows) > task;
        if large && batches.len() > 1 {
            let half = batches.len() / 2;
            let (start, middle, end) = (batches.start, batches.start + half, batches.end);
            return kernel::fill_halves(
                out,
                half * rows.len() * n,
                |out| self.part(start..middle, rows.clone(), task, out),
                |out| self.part(middle..end, rows.clone(), task, out),
            );
        }
        if large && rows.len() >= 2 * GRAIN_ROWS {
            let half = (rows.len() / 2).next_multiple_of(GRAIN_ROWS);
            let (start, middle, end) = (rows.start, rows.start + half, rows.end);
            return kernel::fill_halves(
                out,
                half * n,
                |out| self.part(batches.clone(), start..middle, task, out),
                |out| self.part(batches.clone(), middle..end, task, out),
            );
        }
        self.one_by_one(batches, rows, out)
    }

    fn one_by_one(
        &self,
        batches: Range<usize>,
        rows: Range<usize>,
        out: &mut [MaybeUninit<T>],
    ) -> Result<Filled> {
        let ring = Ring {
            zero: T::one().minus(T::one()),
            step: |sum: T, x: T, y: T| sum.plus(x.times(y)),
            plus: T::plus,
        };
        let each = rows.len() * self.b.sides[1];
        let mut scratch = Scratch::new();
        kernel::fill_chunks(out, each, batches, |batch, out| {
            let a = self.a.matrix(&self.front, batch)?.rows(rows.start, rows.end);
            let b = self.b.matrix(&self.front, batch)?;
            if self.foreign
                && let Some(filled) = gemm::foreign(&a, &b, out)?
            {
                return Ok(filled);
            }
            gemm::multiply(&a, &b, out, &mut scratch, ring)
        })
    }
}
