//! Determinants, inverses and solutions of square matrices.

use super::matrix::{Scratch, det_several, inv as inverse, solve as solution};
use super::{Called, named};
use crate::dtype::Real;
use crate::gufunc::elementary::one_by_one;
use crate::gufunc::{Args, Core, CoreMut, Elementary, ElementaryError, Gufunc};
use crate::kernel::{Kernel, dispatch};
use crate::memory::try_reserve_short;

ready! {
    /// Determinants, `(n,n)->()`: by a formula up to 4 x 4 where its result is known to lie within `8 n^2` units in the
    /// last place times the condition number, by elimination with partial pivots otherwise. That of 0 x 0 is 1.
    ///
    /// ```
    /// use lensor::gufunc::det;
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[1.0_f64, 2.0], [3.0, 4.0]])?;
    /// let [d] = det().call([&t]).eval()?;
    /// assert_eq!(d.item()?, -2.0);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    det Det[T: Real + Default + 'static] [T; 1] => [T; 1];

    /// Inverses, `(n,n)->(n,n)`, with errors as those of [`det`]. NaN and infinities give NaN or zeros.
    ///
    /// ```
    /// use lensor::gufunc::inv;
    /// use lensor::Tensor;
    /// let t = Tensor::from_vec([2, 1, 1], vec![2.0, 0.0])?;
    /// assert_eq!(
    ///     inv().call([&t]).eval().unwrap_err().to_string(),
    ///     "elementary function failed at [1]: matrix is singular"
    /// );
    /// # Ok::<(), lensor::Error>(())
    /// ```
    ///
    /// The call fails at its index if elimination meets a pivot of exactly 0.
    inv Inv[T: Real + Default + 'static] [T; 1] => [T; 1];

    /// Solutions `x` of `a x = b`, `(n,n),(n,k?)->(n,k?)`, by elimination with partial pivots.
    ///
    /// ```
    /// use lensor::gufunc::solve;
    /// use lensor::Tensor;
    /// let a = Tensor::from_nested([[2.0, 0.0], [0.0, 4.0]])?;
    /// let b = Tensor::from(vec![1.0, 1.0]);
    /// assert_eq!(solve().call([&a, &b]).eval()?[0].to_vec()?, [0.5, 0.25]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    ///
    /// The call fails at its index if elimination meets a pivot of exactly 0.
    solve Solve[T: Real + Default + 'static] [T; 2] => [T; 1];
}

impl<T: Real + Default + 'static> Elementary<[T; 1], [T; 1]> for Det {
    const FILLS: bool = true;

    fn call(&self, [a]: [Core<'_, T>; 1], [mut out]: [CoreMut<'_, T>; 1]) -> Called {
        let n = a.shape().first().copied().unwrap_or(0);
        let mut scratch = Scratch::new();
        reserve(&mut scratch, n)?;
        det_several(n, &a, 0, &mut out, &mut scratch);
        Ok(())
    }

    fn run(&self, args: &mut Args<'_, [T; 1], [T; 1]>) -> Result<(), (usize, ElementaryError)> {
        dispatch(Determinants(args))
    }
}

/// Memory for an elimination.
fn reserve<T>(scratch: &mut Scratch<T>, n: usize) -> Result<(), ElementaryError> {
    Ok(try_reserve_short(scratch, n.saturating_mul(n.saturating_add(2)))?)
}

/// Determinants one after another.
struct Determinants<'d, 'a, T: Real + Default + 'static>(&'d mut Args<'a, [T; 1], [T; 1]>);

impl<T: Real + Default + 'static> Kernel for Determinants<'_, '_, T> {
    type Out = Result<(), (usize, ElementaryError)>;

    #[inline(always)]
    fn run(self) -> Self::Out {
        let args = self.0;
        if args.check().is_err() {
            return one_by_one(&Det, args);
        }
        let (count, n, [a]) = (args.len(), args.dimensions[1], args.inputs);
        let mut scratch = Scratch::new();
        reserve(&mut scratch, n).map_err(|error| (0, error))?;
        let (start, step) = (args.offset(0), args.steps[0]);
        if let (Ok(step), Some(a)) = (usize::try_from(step), a.get(start..)) {
            det_several(n, a, step, &mut args.outputs[0][..count], &mut scratch);
            return Ok(());
        }
        for k in 0..count {
            if let Some(([a], [mut out])) = args.cores(k) {
                det_several(n, &a, 0, &mut out, &mut scratch);
            }
        }
        Ok(())
    }
}

impl<T: Real + Default + 'static> Elementary<[T; 1], [T; 1]> for Inv {
    #[inline(always)]
    fn call(&self, [a]: [Core<'_, T>; 1], [mut out]: [CoreMut<'_, T>; 1]) -> Called {
        let n = a.shape().first().copied().unwrap_or(0);
        let mut scratch = Scratch::new();
        reserve(&mut scratch, n)?;
        Ok(inverse(n, &a, &mut out, &mut scratch)?)
    }
}

impl<T: Real + Default + 'static> Elementary<[T; 2], [T; 1]> for Solve {
    #[inline(always)]
    fn call(&self, [a, b]: [Core<'_, T>; 2], [mut out]: [CoreMut<'_, T>; 1]) -> Called {
        let &[n, k] = b.shape() else { return Err("cores of matrices".into()) };
        let mut scratch = Scratch::new();
        reserve(&mut scratch, n)?;
        Ok(solution(n, k, &a, &b, &mut out, &mut scratch)?)
    }
}
