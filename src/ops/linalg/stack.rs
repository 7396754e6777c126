//! Stacks of matrices, and their products one by one.

use crate::dtype::Arithmetic;
use crate::error::{Error, Result};
use crate::expr::{Expr, Lazy};
use crate::kernel::gemm::{self, Matrix, Ring, Scratch};
use crate::kernel::{self, Filled};
use crate::map::Strided;
use crate::shape::{Align, Shape};
use std::borrow::Cow;
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Products of at most as many multiplications are summed up by loops of our own, and all with few rows
/// or columns.
const SMALL: usize = 12 * 12 * 12;
/// Fewest multiplications of a parallel task.
const GRAIN: usize = 1 << 18;
/// Fewest rows of a matrix that are a task of their own: each task reads the whole second matrix.
const GRAIN_ROWS: usize = 64;

/// Where the matrices of an operand are read, or why they are copied first.
enum Place<'a, T> {
    Here { data: &'a [T], shape: Shape, strided: Strided },
    Apart { strides: [isize; 2] },
    Linked,
    Elsewhere,
}

impl<'a, T: Copy + Send + Sync> Place<'a, T> {
    /// `fits` says of the strides of matrices whether they will do.
    fn of<E: Expr<Elem = T>>(operand: &'a Lazy<E>, fits: impl Fn([isize; 2]) -> bool) -> Self {
        let Some((data, map)) = operand.in_memory() else { return Self::Elsewhere };
        let Some(strided) = map.as_strided() else { return Self::Linked };
        let strides = last_two(&strided.strides);
        if fits(strides) {
            Self::Here { data, shape: map.shape(), strided }
        } else {
            Self::Apart { strides }
        }
    }
}

impl<T> fmt::Display for Place<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here { strided, .. } => {
                write!(f, "direct, with strides {:?}", last_two(&strided.strides))
            }
            Self::Apart { strides } => write!(f, "copied because its strides are {strides:?}"),
            Self::Linked => f.write_str("copied because its map is more than strides"),
            Self::Elsewhere => f.write_str("evaluated because it is not in memory"),
        }
    }
}

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
        let (data, shape, strided) = match Place::of(operand, fits) {
            Place::Here { data, shape, strided } => (Cow::Borrowed(data), shape, strided),
            _ => {
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

/// What multiplies, and if it is loops of our own, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Foreign,
    Unknown,
    Narrow,
    Small,
}

impl Method {
    fn of<T: 'static>([m, k, n]: [usize; 3]) -> Self {
        if !gemm::is_foreign::<T>() {
            Self::Unknown
        } else if m < gemm::NARROW || n < gemm::NARROW {
            Self::Narrow
        } else if m.saturating_mul(k).saturating_mul(n) <= SMALL {
            Self::Small
        } else {
            Self::Foreign
        }
    }

    /// Whether it takes matrices of `columns` columns with such strides.
    fn takes(self, columns: usize) -> impl Fn([isize; 2]) -> bool {
        move |strides| self == Self::Foreign || columns <= 1 || strides[1] == 1
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str("by matrixmultiply"),
            Self::Unknown => f.write_str("by own loops because matrixmultiply lacks such elements"),
            Self::Narrow => {
                write!(
                    f,
                    "by own loops because there are less than {} rows or columns",
                    gemm::NARROW
                )
            }
            Self::Small => {
                write!(f, "by own loops because there are at most {SMALL} multiplications")
            }
        }
    }
}

/// Stacks of matrices that are multiplied one by one.
struct Sizes {
    front: Shape,
    /// Rows of the first, columns of it and rows of the second, columns of the second.
    sides: [usize; 3],
}

/// Where work is cut in two.
enum Cut {
    Matrices,
    Rows,
}

impl Sizes {
    fn new(left: &Shape, right: &Shape) -> Result<Self> {
        let split = |shape: &Shape| {
            let at = shape.rank() - 2;
            (Shape::from(&shape[..at]), [shape[at], shape[at + 1]])
        };
        let ((front_a, [m, k]), (front_b, [_, n])) = (split(left), split(right));
        Ok(Self { front: front_a.join(&front_b, Align::Right, 2)?, sides: [m, k, n] })
    }

    /// Multiplications of some rows of some matrices.
    fn work(&self, batches: &Range<usize>, rows: &Range<usize>) -> usize {
        let [_, k, n] = self.sides;
        batches.len().saturating_mul(rows.len()).saturating_mul(k.max(1)).saturating_mul(n)
    }

    /// Most of them that one task should do.
    fn task(&self, work: usize) -> usize {
        match kernel::threads() {
            0 | 1 => usize::MAX,
            threads => (work / (4 * threads)).max(GRAIN),
        }
    }

    /// How more than one task is cut, if it can be.
    fn cut(&self, batches: &Range<usize>, rows: &Range<usize>, task: usize) -> Option<Cut> {
        match self.work(batches, rows) > task {
            true if batches.len() > 1 => Some(Cut::Matrices),
            true if rows.len() >= 2 * GRAIN_ROWS => Some(Cut::Rows),
            _ => None,
        }
    }
}

/// How the product of two operands of rank 2 or more would be computed, in words, and by how many threads.
pub(super) fn explain<A, B>(a: &Lazy<A>, b: &Lazy<B>) -> Result<(Vec<String>, usize)>
where
    A: Expr<Elem: 'static>,
    B: Expr<Elem = A::Elem>,
{
    let sizes = Sizes::new(&a.shape()?, &b.shape()?)?;
    let (batches, [m, k, n]) = (0..sizes.front.count()?, sizes.sides);
    let method = Method::of::<A::Elem>(sizes.sides);
    let kernel = match method {
        Method::Foreign => "packs both operands, whatever their strides",
        _ => gemm::explain(m, n),
    };
    let lines = vec![
        format!("matrices: {} of {m} x {k} times {k} x {n}, {method}", batches.len()),
        format!("kernel: {kernel}"),
        format!("operand 1: {}", Place::of(a, method.takes(k))),
        format!("operand 2: {}", Place::of(b, method.takes(n))),
    ];
    let rows = 0..m;
    let task = sizes.task(sizes.work(&batches, &rows));
    let shared = sizes.cut(&batches, &rows, task).is_some();
    Ok((lines, if shared { kernel::threads() } else { 1 }))
}

/// The products of two stacks of matrices.
pub(super) struct Product<'a, T: Clone> {
    a: Stack<'a, T>,
    b: Stack<'a, T>,
    sizes: Sizes,
    method: Method,
}

impl<'a, T: Arithmetic + 'static> Product<'a, T> {
    /// Of operands of rank 2 or more whose matrices can be multiplied.
    pub(super) fn new<A, B>(a: &'a Lazy<A>, b: &'a Lazy<B>) -> Result<Self>
    where
        A: Expr<Elem = T>,
        B: Expr<Elem = T>,
    {
        let sizes = Sizes::new(&a.shape()?, &b.shape()?)?;
        let ([_, k, n], method) = (sizes.sides, Method::of::<T>(sizes.sides));
        Ok(Self {
            a: Stack::new(a, &sizes.front, method.takes(k))?,
            b: Stack::new(b, &sizes.front, method.takes(n))?,
            sizes,
            method,
        })
    }

    /// All of them, in row-major order.
    pub(super) fn fill(&self, out: &mut [MaybeUninit<T>]) -> Result<Filled> {
        let (batches, rows) = (0..self.sizes.front.count()?, 0..self.sizes.sides[0]);
        let task = self.sizes.task(self.sizes.work(&batches, &rows));
        self.part(batches, rows, task, out)
    }

    /// Some matrices, or some rows of one of them; in halves as long as they are more than one task.
    fn part(
        &self,
        batches: Range<usize>,
        rows: Range<usize>,
        task: usize,
        out: &mut [MaybeUninit<T>],
    ) -> Result<Filled> {
        let n = self.sizes.sides[2];
        match self.sizes.cut(&batches, &rows, task) {
            Some(Cut::Matrices) => {
                let half = batches.len() / 2;
                let (start, middle, end) = (batches.start, batches.start + half, batches.end);
                kernel::fill_halves(
                    out,
                    half * rows.len() * n,
                    |out| self.part(start..middle, rows.clone(), task, out),
                    |out| self.part(middle..end, rows.clone(), task, out),
                )
            }
            Some(Cut::Rows) => {
                // No part has so few rows that it is added up in another order than the whole.
                let half = rows.len() / 2 / GRAIN_ROWS * GRAIN_ROWS;
                let (start, middle, end) = (rows.start, rows.start + half, rows.end);
                kernel::fill_halves(
                    out,
                    half * n,
                    |out| self.part(batches.clone(), start..middle, task, out),
                    |out| self.part(batches.clone(), middle..end, task, out),
                )
            }
            None => self.one_by_one(batches, rows, out),
        }
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
            let a = self.a.matrix(&self.sizes.front, batch)?.rows(rows.start, rows.end);
            let b = self.b.matrix(&self.sizes.front, batch)?;
            if self.method == Method::Foreign
                && let Some(filled) = gemm::foreign(&a, &b, out)?
            {
                return Ok(filled);
            }
            gemm::multiply(&a, &b, out, &mut scratch, ring)
        })
    }
}
