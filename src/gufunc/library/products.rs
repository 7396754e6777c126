//! Products of vectors and matrices.

use super::{Called, named};
use crate::dtype::{Arithmetic, RoundTo};
use crate::error::Error;
use crate::gufunc::{Args, Core, CoreMut, Elementary, ElementaryError, Gufunc};
use crate::kernel::gemm::{Matrix, Scratch};
use crate::kernel::inner;
use crate::ops::linalg::multiply;
use crate::ops::products::product;

ready! {
    /// The products of all pairs of elements of two vectors, `(m),(n)->(m,n)`. Integers wrap.
    ///
    /// ```
    /// use lensor::gufunc::outer;
    /// use lensor::Tensor;
    /// let (a, b) = (Tensor::from(vec![1, 2]), Tensor::from(vec![3, 4]));
    /// assert_eq!(outer().call([&a, &b]).eval()?[0].to_vec()?, [3, 4, 6, 8]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    outer Outer[T: Arithmetic + Default + 'static] [T; 2] => [T; 1];

    /// The product of two matrices, `(m?,n),(n,p?)->(m?,p?)`: where an operand has one axis it is a row on the left and a
    /// column on the right. The products are those of [`linalg`](crate::linalg).
    ///
    /// ```
    /// use lensor::gufunc::matmul;
    /// use lensor::Tensor;
    /// let a = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// let x = Tensor::from(vec![10, 1]);
    /// let [product] = matmul().call([&a, &x]).eval()?;
    /// assert_eq!(product.to_vec()?, [12, 34]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    matmul MatrixProduct[T: Arithmetic + Default + 'static] [T; 2] => [T; 1];

    /// The cross product of two vectors of three elements, `(3),(3)->(3)`.
    ///
    /// ```
    /// use lensor::gufunc::cross;
    /// use lensor::Tensor;
    /// let (x, y) = (Tensor::from(vec![1.0, 0.0, 0.0]), Tensor::from(vec![0.0, 1.0, 0.0]));
    /// assert_eq!(cross().call([&x, &y]).eval()?[0].to_vec()?, [0.0, 0.0, 1.0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    cross Cross[T: Arithmetic + Default + 'static] [T; 2] => [T; 1];

    /// The sum of the diagonal of a square matrix, `(n,n)->()`. Integers wrap; `f16` and `bf16` are summed up in `f32`.
    ///
    /// ```
    /// use lensor::gufunc::trace;
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[1_i32, 2], [3, 4]])?;
    /// let [sum] = trace().call([&t]).eval()?;
    /// assert_eq!(sum.item()?, 5);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    trace Trace[T: Arithmetic + Default + 'static] [T; 1] => [T; 1];
}

impl<T: Arithmetic + Default + 'static> Elementary<[T; 2], [T; 1]> for Outer {
    const FILLS: bool = true;

    #[inline(always)]
    fn call(&self, [a, b]: [Core<'_, T>; 2], [mut out]: [CoreMut<'_, T>; 1]) -> Called {
        for (row, x) in out.chunks_exact_mut(b.len().max(1)).zip(a.iter()) {
            row.iter_mut().zip(b.iter()).for_each(|(slot, y)| *slot = x.times(*y));
        }
        Ok(())
    }
}

impl<T: Arithmetic + Default + 'static> Elementary<[T; 2], [T; 1]> for MatrixProduct {
    const FILLS: bool = true;

    fn call(&self, [a, b]: [Core<'_, T>; 2], [mut out]: [CoreMut<'_, T>; 1]) -> Called {
        let (&[m, n], &[_, p]) = (a.shape(), b.shape()) else {
            return Err("cores of matrices".into());
        };
        let a = Matrix::new(&a, 0, [m, n], [n as isize, 1])?;
        let b = Matrix::new(&b, 0, [n, p], [p as isize, 1])?;
        Ok(multiply(&a, &b, inner::slots(&mut out), &mut Scratch::default()).map(drop)?)
    }

    fn run(&self, args: &mut Args<'_, [T; 2], [T; 1]>) -> Result<(), (usize, ElementaryError)> {
        let &[count, m, n, p] = args.dimensions else {
            return Err((0, "cores of matrices".into()));
        };
        let (mut scratch, [a, b]) = (Scratch::default(), args.inputs);
        let (steps, starts) = (args.steps, [args.offset(0), args.offset(1)]);
        let start = |argument: usize, k: usize| {
            (starts[argument] as isize).wrapping_add(steps[argument].wrapping_mul(k as isize))
        };
        let matrices = || {
            let a = Matrix::new(a, start(0, 0), [m, n], [n as isize, 1])?;
            Ok((a, Matrix::new(b, start(1, 0), [n, p], [p as isize, 1])?))
        };
        let (mut a, mut b) = matrices().map_err(|error: Error| (0, error.into()))?;
        let [out] = &mut args.outputs;
        for (k, out) in out.chunks_exact_mut((m * p).max(1)).take(count).enumerate() {
            let mut multiplied = || {
                a.move_to(start(0, k))?;
                b.move_to(start(1, k))?;
                multiply(&a, &b, inner::slots(out), &mut scratch)
            };
            multiplied().map_err(|error| (k, error.into()))?;
        }
        Ok(())
    }
}

impl<T: Arithmetic + Default + 'static> Elementary<[T; 2], [T; 1]> for Cross {
    const FILLS: bool = true;

    #[inline(always)]
    fn call(&self, [a, b]: [Core<'_, T>; 2], [mut out]: [CoreMut<'_, T>; 1]) -> Called {
        if let (Some(a), Some(b)) = (a.first_chunk::<3>(), b.first_chunk::<3>())
            && let Some(out) = out.first_chunk_mut::<3>()
        {
            let minor =
                |i: usize, j: usize| product(a[i], b[j]).minus(product(a[j], b[i])).rounded();
            *out = [minor(1, 2), minor(2, 0), minor(0, 1)];
        }
        Ok(())
    }
}

impl<T: Arithmetic + Default + 'static> Elementary<[T; 1], [T; 1]> for Trace {
    const FILLS: bool = true;

    #[inline(always)]
    fn call(&self, [a]: [Core<'_, T>; 1], [mut out]: [CoreMut<'_, T>; 1]) -> Called {
        let n = a.shape().first().copied().unwrap_or(0);
        let mut diagonal = a.iter().step_by(n + 1).copied();
        let first = T::Wide::from(diagonal.next().unwrap_or_default());
        out[0] = diagonal.fold(first, |sum, x| sum.plus(x.into())).rounded();
        Ok(())
    }
}
