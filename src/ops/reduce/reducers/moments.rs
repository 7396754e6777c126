//! Means, variances and covariances.

use super::super::{Reducer, VisitReducer};
use super::distances::{NARROW, distances, distances_in_column};
use super::lanes::{few, in_columns, in_lanes};
use super::{Filtered, SkipNan};
use crate::dtype::Measure;
use crate::expr::sealed::Sealed;

/// The arithmetic mean, computed in `f64` by sums in pairs. Of nothing there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Mean;

/// The variance: the sum of squared distances from the mean, over `n - ddof`. NaN if `n <= ddof`.
///
/// Runs are measured from their own mean and joined by the rule of Chan, Golub and LeVeque, so elements
/// far from 0 cancel nothing.
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
freedom! { of SkipNan Filtered }

/// A sum and how many were added.
#[derive(Debug, Clone, Copy)]
pub struct Total {
    sum: f64,
    count: f64,
}

impl<T: Measure> Reducer<T> for Mean {
    type State = Total;
    type Out = T::Float;

    fn empty(&self) -> Option<Total> {
        None
    }

    #[inline(always)]
    fn first(&self, x: T) -> Total {
        Total { sum: x.to_f64(), count: 1.0 }
    }

    #[inline(always)]
    fn combine(&self, state: &mut Total, later: Total) {
        state.sum += later.sum;
        state.count += later.count;
    }

    fn finish(&self, state: Total) -> T::Float {
        T::of_f64(state.sum / state.count)
    }

    fn of_count<V: VisitReducer<T, T::Float>>(&self, count: usize, visit: V) -> V::Result {
        visit.visit(&MeanOf { count: count as f64 })
    }

    fn repeat(&self, x: T, _position: usize, count: usize) -> Total {
        Total { sum: x.to_f64() * count as f64, count: count as f64 }
    }

    #[inline(always)]
    fn fold(&self, run: &[T], _position: usize) -> Total {
        Total { sum: sum(run, |x| x), count: run.len() as f64 }
    }

    #[inline(always)]
    fn fold_few(&self, run: &[T; 8], count: usize) -> Total {
        Total { sum: few(run.map(T::to_f64), count, -0.0, |a, b| a + b), count: count as f64 }
    }

    #[inline(always)]
    fn fold_columns(&self, rows: &[&[T]], _position: usize, states: &mut Vec<Total>) {
        let mut sums = Vec::new();
        in_columns(rows, &mut sums, T::to_f64, |a, b| a + b);
        let count = rows.len() as f64;
        states.clear();
        states.extend(sums.into_iter().map(|sum| Total { sum, count }));
    }
}

/// [`Mean`] of a known number of elements.
struct MeanOf {
    count: f64,
}

impl<T: Measure> Reducer<T> for MeanOf {
    type State = f64;
    type Out = T::Float;

    fn empty(&self) -> Option<f64> {
        None
    }

    #[inline(always)]
    fn first(&self, x: T) -> f64 {
        x.to_f64()
    }

    #[inline(always)]
    fn combine(&self, state: &mut f64, later: f64) {
        *state += later;
    }

    #[inline(always)]
    fn finish(&self, state: f64) -> T::Float {
        T::of_f64(state / self.count)
    }

    #[inline(always)]
    fn fold_columns(&self, rows: &[&[T]], _position: usize, states: &mut Vec<f64>) {
        in_columns(rows, states, T::to_f64, |a, b| a + b);
    }
}

/// The sum of a function of the elements of a run.
#[inline(always)]
fn sum<T: Measure>(run: &[T], f: impl Fn(f64) -> f64) -> f64 {
    in_lanes(run, |x| f(x.to_f64()), |sum, x| sum + f(x.to_f64()), |a, b| a + b)
}

/// Number, mean and squared distances from it.
#[derive(Debug, Clone, Copy)]
pub struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    #[inline(always)]
    fn join(&mut self, later: Self) {
        let count = self.count + later.count;
        let apart = later.mean - self.mean;
        let share = later.count / count;
        self.mean += apart * share;
        self.squares += later.squares + apart * apart * self.count * share;
        self.count = count;
    }

    /// Of elements whose distances from `base`, and the squares of these, have been added up. Squares that
    /// are too large make an infinite variance, as they do where they are added up one by one.
    #[inline(always)]
    fn measured(count: f64, base: f64, sum: f64, square: f64) -> Self {
        let squares = square - sum * (sum / count);
        let overflowed = squares.is_nan() && sum.is_finite();
        let squares = if overflowed { f64::INFINITY } else { squares };
        Self { count, mean: base + sum / count, squares }
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
                Some(Moments { count: 0.0, mean: 0.0, squares: 0.0 })
            }

            #[inline(always)]
            fn first(&self, x: T) -> Moments {
                // An infinite element has no distance from itself.
                let mean = x.to_f64();
                Moments { count: 1.0, mean, squares: 0.0 * mean.abs() }
            }

            /// Welford's update.
            #[inline(always)]
            fn step(&self, state: &mut Moments, x: T) {
                state.count += 1.0;
                let apart = x.to_f64() - state.mean;
                state.mean += apart / state.count;
                state.squares += apart * (x.to_f64() - state.mean);
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
                let [sum, square] = distances(run, base);
                let count = run.len() as f64;
                Moments::measured(count, base, sum, square)
            }

            /// As [`Self::fold`], from the first row.
            #[inline(always)]
            fn fold_columns(&self, rows: &[&[T]], _position: usize, states: &mut Vec<Moments>) {
                let width = rows[0].len();
                if width < NARROW {
                    states.clear();
                    let count = rows.len() as f64;
                    states.extend((0..width).map(|k| {
                        let base = rows[0][k].to_f64();
                        let [sum, square] = distances_in_column(rows, k, base);
                        Moments::measured(count, base, sum, square)
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
                let count = rows.len() as f64;
                states.clear();
                let column = |k: usize| Moments::measured(count, base[k], sums[k], squares[k]);
                states.extend((0..width).map(column));
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
        let apart = x.to_f64() - state.means[0];
        state.means[0] += apart / state.count;
        state.means[1] += (y.to_f64() - state.means[1]) / state.count;
        state.products += apart * (y.to_f64() - state.means[1]);
    }

    #[inline(always)]
    fn combine(&self, state: &mut CoMoments, later: CoMoments) {
        let count = state.count + later.count;
        let share = later.count / count;
        let [x, y] = [0, 1].map(|k| later.means[k] - state.means[k]);
        state.products += later.products + x * y * state.count * share;
        state.means[0] += x * share;
        state.means[1] += y * share;
        state.count = count;
    }

    fn finish(&self, state: CoMoments) -> T::Float {
        let freedom = state.count - self.ddof as f64;
        T::of_f64(if freedom > 0.0 { state.products / freedom } else { f64::NAN })
    }

    #[inline(always)]
    fn fold(&self, run: &[(T, T)], _position: usize) -> CoMoments {
        let add = |a: f64, b: f64| a + b;
        let count = run.len() as f64;
        let sum = |f: &dyn Fn(&(T, T)) -> f64| run.iter().map(f).sum::<f64>();
        let means = [sum(&|pair| pair.0.to_f64()) / count, sum(&|pair| pair.1.to_f64()) / count];
        let product = |(x, y): (T, T)| (x.to_f64() - means[0]) * (y.to_f64() - means[1]);
        let products = in_lanes(run, product, |sum, pair| sum + product(pair), add);
        CoMoments { count, means, products }
    }
}
