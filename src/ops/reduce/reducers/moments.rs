//! Variances and covariances.

use super::super::Reducer;
use super::distances::{FEW, NARROW, distances, distances_in_column};
use super::means::sum;
use super::{Filtered, Maybe, SkipNan};
use crate::dtype::Measure;
use crate::expr::sealed::Sealed;

/// The variance: the sum of squared distances from the mean, over `n - ddof`. NaN if `n <= ddof` (NumPy: infinity if
/// elements differ).
///
/// Runs are measured from their first element and joined by the rule of Chan, Golub and LeVeque, so elements
/// far from 0 cancel nothing, and those whose sum is infinite have a variance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Variance {
    /// Degrees of freedom to subtract: 0 for all there is, 1 for a sample.
    pub ddof: usize,
}

/// The square root of [`Variance`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct StandardDeviation {
    /// Degrees of freedom to subtract: 0 for all there is, 1 for a sample.
    pub ddof: usize,
}

/// The covariance of pairs: the sum of products of distances from the means, over `n - ddof`. NaN if
/// `n <= ddof`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Covariance {
    /// Degrees of freedom to subtract: 0 for all there is, 1 for a sample.
    pub ddof: usize,
}

/// A reducer that divides by the number of elements less the degrees of freedom that are lost. Sealed.
pub trait Freedom: Sealed {
    /// The reducer with `ddof` degrees of freedom subtracted: 0 for all there is, 1 for a sample.
    #[doc(hidden)]
    fn with_ddof(self, ddof: usize) -> Self;
}

macro_rules! freedom {
    (of $($Adapter:ident)*) => { $(
        impl<R: Freedom> Sealed for $Adapter<R> {}

        impl<R: Freedom> Freedom for $Adapter<R> {
            fn with_ddof(self, ddof: usize) -> Self {
                Self(self.0.with_ddof(ddof))
            }
        }
    )* };
    ($($Reducer:ident)*) => { $(
        impl Sealed for $Reducer {}

        impl Freedom for $Reducer {
            fn with_ddof(self, ddof: usize) -> Self {
                Self { ddof }
            }
        }
    )* };
}
freedom! { Variance StandardDeviation Covariance }
freedom! { of SkipNan Filtered Maybe }

/// Number, mean and squared distances from it.
#[derive(Debug, Clone, Copy)]
pub struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

/// A mean, moved to another one by a share of their distance.
#[inline(always)]
fn moved(mean: f64, other: f64, share: impl Fn(f64) -> f64) -> f64 {
    let moved = mean + share(other - mean);
    // Distances of numbers may be infinite where means are not.
    if moved.is_infinite() { mean - share(mean) + share(other) } else { moved }
}

impl Moments {
    const NONE: Self = Self { count: 0.0, mean: 0.0, squares: 0.0 };

    /// Welford's update.
    #[inline(always)]
    fn step(&mut self, x: f64) {
        self.count += 1.0;
        let apart = x - self.mean;
        self.mean = moved(self.mean, x, |apart| apart / self.count);
        self.squares += apart * (x - self.mean);
    }

    #[inline(always)]
    fn join(&mut self, later: Self) {
        let count = self.count + later.count;
        let apart = later.mean - self.mean;
        let share = later.count / count;
        self.mean = moved(self.mean, later.mean, |apart| apart * share);
        self.squares += later.squares + apart * apart * self.count * share;
        self.count = count;
    }

    /// Of elements whose distances from `base`, and the squares of these, have been added up. Where those are too
    /// large, elements are taken one by one.
    #[inline(always)]
    fn measured(
        base: f64,
        [sum, square]: [f64; 2],
        elements: impl ExactSizeIterator<Item = f64>,
    ) -> Self {
        let count = elements.len() as f64;
        let squares = square - sum * (sum / count);
        if squares.is_nan() {
            return Self::one_by_one(elements);
        }
        Self { count, mean: base + sum / count, squares }
    }

    /// Until there is no number.
    #[cold]
    fn one_by_one(elements: impl ExactSizeIterator<Item = f64>) -> Self {
        let (count, mut all) = (elements.len() as f64, Self::NONE);
        for x in elements {
            all.step(x);
            if all.squares.is_nan() {
                break;
            }
        }
        Self { count, ..all }
    }

    fn variance(self, ddof: usize) -> f64 {
        let freedom = self.count - ddof as f64;
        // Squares that are too small to be numbers may leave less than nothing.
        let squares = if self.squares < 0.0 { 0.0 } else { self.squares };
        if freedom > 0.0 { squares / freedom } else { f64::NAN }
    }
}

macro_rules! spread {
    ($($Reducer:ident $finish:expr;)*) => { $(
        impl<T: Measure> Reducer<T> for $Reducer {
            type State = Moments;
            type Out = T::Float;

            fn empty(&self) -> Option<Moments> {
                Some(Moments::NONE)
            }

            #[inline(always)]
            fn first(&self, x: T) -> Moments {
                // An infinite element has no distance from itself.
                let mean = x.to_f64();
                Moments { count: 1.0, mean, squares: 0.0 * mean.abs() }
            }

            #[inline(always)]
            fn step(&self, state: &mut Moments, x: T) {
                state.step(x.to_f64());
            }

            #[inline(always)]
            fn combine(&self, state: &mut Moments, later: Moments) {
                state.join(later);
            }

            fn finish(&self, state: Moments) -> T::Float {
                T::of_f64($finish(state.variance(self.ddof)))
            }

            fn repeat(&self, x: T, _position: usize, count: usize) -> Moments {
                let mean = x.to_f64();
                Moments { count: count as f64, mean, squares: 0.0 * mean.abs() }
            }

            /// Distances from the first element, in one pass: as it is one of them, no more than a
            /// factor of the length of the run can be lost to cancellation.
            #[inline(always)]
            fn fold(&self, run: &[T], _position: usize) -> Moments {
                let base = run[0].to_f64();
                let elements = run.iter().map(|x| x.to_f64());
                Moments::measured(base, distances(run, base), elements)
            }

            /// As [`Self::fold`], from the first row.
            #[inline(always)]
            fn fold_columns(&self, rows: &[&[T]], _position: usize, states: &mut Vec<Moments>) {
                let width = rows[0].len();
                let column = |k: usize| rows.iter().map(move |row| row[k].to_f64());
                if width < NARROW || width * rows.len() <= FEW {
                    states.clear();
                    states.extend((0..width).map(|k| {
                        let base = rows[0][k].to_f64();
                        Moments::measured(base, distances_in_column(rows, k, base), column(k))
                    }));
                    return;
                }
                let base: Vec<f64> = rows[0].iter().map(|x| x.to_f64()).collect();
                let (mut sums, mut squares) = (vec![0.0; width], vec![0.0; width]);
                let (base, sums, squares) = (&base[..width], &mut sums[..width], &mut squares[..width]);
                let (fours, rest) = rows.as_chunks::<4>();
                for rows in fours {
                    let [a, b, c, d] = rows.map(|row| &row[..width]);
                    for k in 0..width {
                        let [a, b, c, d] = [a[k], b[k], c[k], d[k]].map(|x| x.to_f64() - base[k]);
                        sums[k] += (a + b) + (c + d);
                        squares[k] += (a * a + b * b) + (c * c + d * d);
                    }
                }
                for row in rest {
                    let row = &row[..width];
                    for k in 0..width {
                        let apart = row[k].to_f64() - base[k];
                        sums[k] += apart;
                        squares[k] += apart * apart;
                    }
                }
                states.clear();
                let measured =
                    |k: usize| Moments::measured(base[k], [sums[k], squares[k]], column(k));
                states.extend((0..width).map(measured));
            }
        }
    )* };
}
spread! { Variance |x: f64| x; StandardDeviation f64::sqrt; }

/// Number, means, and products of the distances from them.
#[derive(Debug, Clone, Copy)]
pub struct CoMoments {
    count: f64,
    means: [f64; 2],
    products: f64,
}

impl<T: Measure> Reducer<(T, T)> for Covariance {
    type State = CoMoments;
    type Out = T::Float;

    fn empty(&self) -> Option<CoMoments> {
        Some(CoMoments { count: 0.0, means: [0.0; 2], products: 0.0 })
    }

    #[inline(always)]
    fn first(&self, (x, y): (T, T)) -> CoMoments {
        // An infinite element has no distance from itself.
        let means = [x.to_f64(), y.to_f64()];
        let [x, y] = means.map(|mean| 0.0 * mean.abs());
        CoMoments { count: 1.0, means, products: x * y }
    }

    #[inline(always)]
    fn step(&self, state: &mut CoMoments, (x, y): (T, T)) {
        state.count += 1.0;
        let (x, y, [mean, other]) = (x.to_f64(), y.to_f64(), state.means);
        state.means =
            [(mean, x), (other, y)].map(|(mean, x)| moved(mean, x, |apart| apart / state.count));
        // `y` is measured from a mean that it is part of, `x` is not: an infinite one would have a distance.
        state.products += (x - mean) * (y - state.means[1]) + 0.0 * x;
    }

    #[inline(always)]
    fn combine(&self, state: &mut CoMoments, later: CoMoments) {
        let count = state.count + later.count;
        let share = later.count / count;
        let [x, y] = [0, 1].map(|k| later.means[k] - state.means[k]);
        state.products += later.products + x * y * state.count * share;
        state.means = [0, 1].map(|k| moved(state.means[k], later.means[k], |apart| apart * share));
        state.count = count;
    }

    fn finish(&self, state: CoMoments) -> T::Float {
        let freedom = state.count - self.ddof as f64;
        T::of_f64(if freedom > 0.0 { state.products / freedom } else { f64::NAN })
    }

    /// Distances from the first pair, as those of [`Variance`]; one by one where their products are too large, or none.
    #[inline(always)]
    fn fold(&self, run: &[(T, T)], _position: usize) -> CoMoments {
        let base = [run[0].0.to_f64(), run[0].1.to_f64()];
        let x = |pair: (T, T)| pair.0.to_f64() - base[0];
        let y = |pair: (T, T)| pair.1.to_f64() - base[1];
        let [xs, ys, products] = [sum(run, x), sum(run, y), sum(run, |pair| x(pair) * y(pair))];
        let count = run.len() as f64;
        let products = products - xs * (ys / count);
        if !products.is_finite() {
            let mut all = self.first(run[0]);
            run[1..].iter().for_each(|&pair| self.step(&mut all, pair));
            return all;
        }
        CoMoments { count, means: [base[0] + xs / count, base[1] + ys / count], products }
    }
}
