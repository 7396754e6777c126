//! Stacks of matrices, and their products one by one.

use crate::dtype::Arithmetic;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::expr::{Expr, Lazy};
use crate::kernel::gemm::{self, Matrix, Scratch};
use crate::kernel::{self, Filled};
use crate::memory::push;
use crate::ops::cores::{Arrangement, Calls, Inputs, Operand, Row, Source, Work};
use crate::ops::products::{Terms, product};
use crate::shape::{Align, Shape};
use std::fmt;
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

/// Products of at most as many multiplications are summed up by loops of our own, and all with few rows
/// or columns.
const SMALL: usize = 12 * 12 * 12;
/// Fewest multiplications of a parallel task.
const GRAIN: usize = 1 << 18;
/// Fewest rows of a matrix that are a task of their own, which reads the whole second matrix.
const GRAIN_ROWS: usize = 64;
/// Fewest columns of the second matrix that are: its rows are read in parts of so many.
const GRAIN_COLUMNS: usize = 1024;

/// What multiplies, and if it is loops of our own, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProductKernel {
    Foreign,
    Unknown,
    Narrow,
    Small,
}

impl ProductKernel {
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

    /// Multiplies two matrices, or adds up other terms; those only of one row or column.
    fn multiply<T: Arithmetic + 'static, F: Term<T>>(
        self,
        a: &Matrix<'_, T>,
        b: &Matrix<'_, T>,
        out: &mut [MaybeUninit<T>],
        scratch: &mut Scratch<T, T::Wide>,
        term: F,
    ) -> Result<Filled> {
        if self == Self::Foreign
            && let Some(filled) = gemm::foreign(a, b, out)?
        {
            return Ok(filled);
        }
        gemm::multiply(a, b, out, scratch, Terms(term))
    }

    /// Whether it takes the first or second matrix of a product with such strides.
    fn takes<T>(self, sides: [usize; 3], argument: usize, strides: [isize; 2]) -> bool {
        self == Self::Foreign || gemm::takes::<T>(sides, argument, strides)
    }
}

impl fmt::Display for ProductKernel {
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

/// What two elements add to a sum.
pub(super) trait Term<T: Arithmetic>: Fn(T, T) -> T::Wide + Copy + Send + Sync {}

impl<T: Arithmetic, F: Fn(T, T) -> T::Wide + Copy + Send + Sync> Term<T> for F {}

/// Stacks of matrices that are multiplied one by one.
struct Sizes {
    front: Shape,
    /// Rows of the first, columns of it and rows of the second, columns of the second.
    sides: [usize; 3],
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

    /// Whether products of matrices with these steps along a sum are sums that are made side by side.
    fn takes_each<T>(&self, strides: [isize; 2]) -> bool {
        let [m, k, n] = self.sides;
        [m, n] == [1, 1] && gemm::takes_each::<T>(k, strides)
    }

    /// Most multiplications that one task should do of those of all matrices.
    fn task(&self, matrices: usize) -> usize {
        kernel::task_size(work(self.sides).saturating_mul(matrices), 0, GRAIN)
    }

    /// The loop over all matrices, whose tasks have so many multiplications.
    fn calls<'c>(&'c self, results: &'c [usize], task: usize) -> Calls<'c> {
        let [m, k, n] = self.sides;
        let elements = (m * k).saturating_add(k * n).saturating_add(m.saturating_mul(n)).max(1);
        let grain = (task / work(self.sides).max(1)).max(1).saturating_mul(elements);
        Calls { loops: &self.front, results, parallel: grain.saturating_add(1), grain }
    }
}

/// Multiplications of a product of `m x k` and `k x n`.
fn work([m, k, n]: [usize; 3]) -> usize {
    m.saturating_mul(k.max(1)).saturating_mul(n)
}

/// Rows of the first half of a product that is more than one task, or columns of a single row. No half has so few that it
/// is added up in another order than the whole.
fn half([m, k, n]: [usize; 3], task: usize) -> Option<usize> {
    let (long, grain) = if m == 1 { (n, GRAIN_COLUMNS) } else { (m, GRAIN_ROWS) };
    let is_cut = work([m, k, n]) > task && long >= 2 * grain;
    is_cut.then(|| long / 2 / grain * grain)
}

/// The matrices of an operand of rank 2 or more: where they lie if the method takes their strides.
#[inline(never)]
fn matrices<'a, E: Expr>(
    operand: &'a Lazy<E>,
    argument: usize,
    sizes: &Sizes,
    method: ProductKernel,
) -> Result<Operand<'a, E::Elem>> {
    let shape = operand.shape()?;
    let loops = shape.rank() - 2;
    let arrangement = Arrangement {
        order: (0..shape.rank()).collect(),
        loops,
        core: shape[loops..].iter().copied().collect(),
        ..Arrangement::default()
    };
    Operand::new(&operand.0, &arrangement, &sizes.front, |_, strides, step| {
        let is_taken = method.takes::<E::Elem>(sizes.sides, argument, last_two(strides));
        is_taken || (step == 1 && sizes.takes_each::<E::Elem>([0; 2]))
    })
}

/// An operand as one matrix, if it is one in memory.
fn alone<E: Expr>(operand: &Lazy<E>) -> Option<Matrix<'_, E::Elem>> {
    let (memory, map) = operand.in_memory()?;
    let [rows, columns] = map.linear_axes()? else { return None };
    let strides = [rows, columns].map(|axis| if axis.extent == 1 { 0 } else { axis.stride });
    let base = map.top().offset() as isize;
    Matrix::new(memory, base, [rows.extent, columns.extent], strides).ok()
}

/// Fills `out` with the products of two operands of rank 2 or more whose matrices can be multiplied. Other terms than
/// products are only of matrices of one row on the left or one column on the right.
pub(super) fn fill<A, B, F>(
    a: &Lazy<A>,
    b: &Lazy<B>,
    out: &mut [MaybeUninit<A::Elem>],
    term: F,
) -> Result<Filled>
where
    A: Expr<Elem: Arithmetic + 'static>,
    B: Expr<Elem = A::Elem>,
    F: Term<A::Elem>,
{
    if out.is_empty() {
        return Filled::nothing(out);
    }
    let method = ProductKernel::Small;
    if let (Some(a), Some(b)) = (alone(a), alone(b))
        && let ([m, k], [_, n]) = (a.sides(), b.sides())
        && (1..=SMALL).contains(&m.saturating_mul(k).saturating_mul(n))
        && method.takes::<A::Elem>([m, k, n], 0, a.strides())
        && method.takes::<A::Elem>([m, k, n], 1, b.strides())
    {
        return method.multiply(&a, &b, out, &mut Scratch::default(), term);
    }
    Product::new(a, b, term)?.fill(out)
}

fn last_two(strides: &[isize]) -> [isize; 2] {
    match strides {
        [.., rows, columns] => [*rows, *columns],
        _ => [0, 0],
    }
}

/// Steps along the columns of matrices of the first operand, and along the rows of the second.
fn along_sums<T: Copy + Send + Sync>([first, second]: [&Operand<'_, T>; 2]) -> [isize; 2] {
    [last_two(&first.source().strides)[1], last_two(&second.source().strides)[0]]
}

/// How the product of two operands of rank 2 or more would be computed, in words, and by how many threads.
pub(super) fn explain<A, B>(a: &Lazy<A>, b: &Lazy<B>) -> Result<(Vec<String>, usize)>
where
    A: Expr<Elem: 'static>,
    B: Expr<Elem = A::Elem>,
{
    let sizes = Sizes::new(&a.shape()?, &b.shape()?)?;
    let (count, [m, k, n]) = (sizes.front.count()?, sizes.sides);
    let method = ProductKernel::of::<A::Elem>(sizes.sides);
    let (first, second) = (matrices(a, 0, &sizes, method)?, matrices(b, 1, &sizes, method)?);
    let strides = [&first, &second].map(|operand| last_two(&operand.source().strides));
    let kernel = match method {
        _ if count > 1 && sizes.takes_each::<A::Elem>(along_sums([&first, &second])) => {
            "sums side by side"
        }
        ProductKernel::Foreign => "packs both operands, whatever their strides",
        _ => gemm::explain(sizes.sides, strides),
    };
    let mut lines = vec![
        format!("matrices: {count} of {m} x {k} times {k} x {n}, {method}"),
        format!("kernel: {kernel}"),
        format!("operand 1: {}", place(a, first.source())),
        format!("operand 2: {}", place(b, second.source())),
    ];
    let (task, results) = (sizes.task(count), [m.saturating_mul(n)]);
    let calls = sizes.calls(&results, task);
    let sources = [first.source(), second.source()];
    let shared = calls.threads(calls.cut(&sources)) > 1;
    if results[0] > 0 {
        let boxes = || calls.boxes(&sources, true);
        lines.extend(first.blocks_in_words(Some("operand 1"), &mut boxes())?);
        lines.extend(second.blocks_in_words(Some("operand 2"), &mut boxes())?);
    }
    let shared = shared || count > 0 && half(sizes.sides, task).is_some();
    Ok((lines, if shared { kernel::threads() } else { 1 }))
}

/// Where the matrices of an operand are read, or why they are copied first.
fn place<E: Expr>(operand: &Lazy<E>, source: &Source) -> String {
    let strided = operand.in_memory().map(|(_, map)| map.as_strided());
    match strided {
        Some(Some(_)) if source.direct && !source.held => {
            format!("direct, with strides {:?}", source.strides.as_slice())
        }
        Some(Some(strided)) => {
            format!("copied because its strides are {:?}", last_two(&strided.strides))
        }
        Some(None) => "copied because its map is more than strides".into(),
        None => "evaluated because it is not in memory".into(),
    }
}

/// The products of two stacks of matrices.
struct Product<'a, T: Clone, F> {
    operands: [Operand<'a, T>; 2],
    sizes: Sizes,
    method: ProductKernel,
    term: F,
}

impl<'a, T: Arithmetic + 'static, F: Term<T>> Product<'a, T, F> {
    /// Of operands of rank 2 or more whose matrices can be multiplied.
    fn new<A, B>(a: &'a Lazy<A>, b: &'a Lazy<B>, term: F) -> Result<Self>
    where
        A: Expr<Elem = T>,
        B: Expr<Elem = T>,
    {
        let sizes = Sizes::new(&a.shape()?, &b.shape()?)?;
        let method = ProductKernel::of::<T>(sizes.sides);
        let mut operands = [matrices(a, 0, &sizes, method)?, matrices(b, 1, &sizes, method)?];
        <[T; 2] as Inputs>::hold(&mut operands)?;
        Ok(Self { operands, sizes, method, term })
    }

    /// All of them, in row-major order; there are some.
    fn fill(&self, out: &mut [MaybeUninit<T>]) -> Result<Filled> {
        let ([m, k, n], count) = (self.sizes.sides, self.sizes.front.count()?);
        let (task, results) = (self.sizes.task(count), [m * n]);
        if let [Some(a), Some(b)] = self.operands.each_ref().map(Operand::first)
            && count == 1
        {
            let (a, b) = (self.matrix(0, a, [m, k])?, self.matrix(1, b, [k, n])?);
            return self.product([&a, &b], task, out, &mut Scratch::default());
        }
        let work = Multiplying { product: self, task, proofs: Mutex::default() };
        self.sizes.calls(&results, task).fill::<[T; 2], [MaybeUninit<T>; 1]>(
            &self.operands,
            [&mut *out],
            &work,
        )?;
        Filled::together(work.proofs.into_inner().unwrap_or_else(PoisonError::into_inner), out)
    }

    /// A matrix of an operand that begins there.
    fn matrix<'m>(
        &self,
        argument: usize,
        (data, base): (&'m [T], isize),
        sides: [usize; 2],
    ) -> Result<Matrix<'m, T>> {
        let strides = last_two(&self.operands[argument].source().strides);
        Matrix::new(data, base, sides, strides)
    }

    /// One product; in halves as long as it is more than one task.
    fn product(
        &self,
        [a, b]: [&Matrix<'_, T>; 2],
        task: usize,
        out: &mut [MaybeUninit<T>],
        scratch: &mut Scratch<T, T::Wide>,
    ) -> Result<Filled> {
        let ([m, k], [_, n]) = (a.sides(), b.sides());
        let Some(half) = half([m, k, n], task) else {
            return self.method.multiply(a, b, out, scratch, self.term);
        };
        let (a, b) = (*a, *b);
        let (low, high, first) = match m {
            1 => ([a, b.columns(0, half)], [a, b.columns(half, n)], half),
            _ => ([a.rows(0, half), b], [a.rows(half, m), b], half * n),
        };
        kernel::fill_halves(
            out,
            first,
            |out| self.product(low.each_ref(), task, out, &mut Scratch::default()),
            |out| self.product(high.each_ref(), task, out, &mut Scratch::default()),
        )
    }
}

/// Multiplies matrices as they are brought.
struct Multiplying<'p, 'a, T: Clone, F> {
    product: &'p Product<'a, T, F>,
    /// Most multiplications of a task.
    task: usize,
    /// Which products were written.
    proofs: Mutex<Vec<Filled>>,
}

impl<T, F> Work<[T; 2], [MaybeUninit<T>; 1]> for Multiplying<'_, '_, T, F>
where
    T: Arithmetic + 'static,
    F: Term<T>,
{
    fn run(&self, row: Row<'_, [T; 2], [MaybeUninit<T>; 1]>) -> Result<()> {
        let [m, k, n] = self.product.sizes.sides;
        let (mut scratch, [out]) = (Scratch::default(), row.outputs);
        let base = |argument: usize, call: usize| {
            let moved = row.steps[argument].wrapping_mul(call as isize);
            row.offsets[argument].wrapping_add(moved)
        };
        let down = along_sums(self.product.operands.each_ref());
        if self.product.sizes.takes_each::<T>(down) {
            let [a, b] = [0, 1].map(|argument| {
                let strides = [row.steps[argument], down[argument]];
                Matrix::new(row.inputs[argument], row.offsets[argument], [row.count, k], strides)
            });
            let filled = gemm::multiply_each(&a?, &b?, out, Terms(self.product.term))?;
            return push(&mut self.proofs.lock().unwrap_or_else(PoisonError::into_inner), filled);
        }
        let mut a = self.product.matrix(0, (row.inputs[0], base(0, 0)), [m, k])?;
        let mut b = self.product.matrix(1, (row.inputs[1], base(1, 0)), [k, n])?;
        let filled = kernel::fill_chunks(out, m * n, 0..row.count, |call, out| {
            a.move_to(base(0, call))?;
            b.move_to(base(1, call))?;
            self.product.product([&a, &b], self.task, out, &mut scratch)
        })?;
        push(&mut self.proofs.lock().unwrap_or_else(PoisonError::into_inner), filled)
    }
}

/// The product of two matrices, row-major. They are multiplied as those of stacks are, with the same bits.
pub(crate) fn multiply<T: Arithmetic + 'static>(
    a: &Matrix<'_, T>,
    b: &Matrix<'_, T>,
    out: &mut [MaybeUninit<T>],
    scratch: &mut Scratch<T, T::Wide>,
) -> Result<Filled> {
    let ([m, k], [_, n]) = (a.sides(), b.sides());
    ProductKernel::of::<T>([m, k, n]).multiply(a, b, out, scratch, product)
}
