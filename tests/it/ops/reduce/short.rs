//! Folds of few elements each, many of them: the bits of each lane folded by itself.

use super::floats;
use lensor::prelude::*;
use lensor::reduce::*;
use lensor::storage::FromFn;

/// A fold that depends on order, whose runs all have as many elements, if it says how many.
#[derive(Clone, Copy)]
struct Chain(Option<usize>);

impl<T: Copy + Into<f64>> Reducer<T> for Chain {
    type State = (f64, f64);
    type Out = f64;
    const COMMUTATIVE: bool = false;

    fn empty(&self) -> Option<(f64, f64)> {
        None
    }

    fn first(&self, x: T) -> (f64, f64) {
        (x.into() + 0.1, 0.7)
    }

    fn combine(&self, state: &mut (f64, f64), later: (f64, f64)) {
        *state = (state.0 * later.1 + later.0, state.1 * later.1);
    }

    fn finish(&self, state: (f64, f64)) -> f64 {
        state.0
    }

    fn fold(&self, run: &[T], position: usize) -> (f64, f64) {
        if let Some(count) = self.0 {
            assert_eq!([run.len(), position], [count, 0]);
        }
        run[1..].iter().fold(Reducer::<T>::first(self, run[0]), |mut state, &x| {
            let later = Reducer::<T>::first(self, x);
            Reducer::<T>::combine(self, &mut state, later);
            state
        })
    }
}

/// Some of so many results: the first and the last ones, and others.
fn some(count: usize) -> impl Iterator<Item = usize> {
    (0..count).filter(move |&k| k < 3 || k + 3 > count || k % 97 == 7)
}

/// Holds folds against those of single lanes: results of the axes, in row-major order of `sides`, and a lane at each index.
macro_rules! lane_by_lane {
    ($name:expr, $e:expr, $axes:expr, $sides:expr, |$i:ident, $k:ident| $lane:expr, $($reducer:expr),*) => { $(
        let [rows, columns]: [usize; 2] = $sides;
        let all = $e.fold($axes, $reducer).to_vec().unwrap();
        assert_eq!(all.len(), rows * columns, "{}", $name);
        for number in some(all.len()) {
            let ($i, $k) = (number / columns, number % columns);
            let lane = $e.select($lane).unwrap().fold(.., $reducer).item().unwrap();
            let [found, expected] = [all[number], lane].map(|result| format!("{result:?}"));
            assert_eq!(found, expected, "{} {} {number}", $name, stringify!($reducer));
        }
    )* };
}

/// Numbers of rows about those that are read or folded at once.
fn heights(width: usize) -> [usize; 5] {
    let at_once = 2048_usize.div_ceil(width);
    [1, 65, at_once, at_once + 1, 4096 / width + 2]
}

#[test]
fn short_rows_of_expressions() {
    for width in 1..=17 {
        for rows in heights(width) {
            let data = floats(rows * width, width as u64);
            let t = Tensor::from_vec([rows, width], data).unwrap();
            let row = t.view().select((0, ..)).unwrap();
            lane_by_lane!(
                format!("{rows} {width}"),
                (&t - &row),
                1,
                [rows, 1],
                |i, _k| (i, ..),
                Sum,
                Max,
                Variance::default(),
                Chain(Some(width))
            );
        }
    }
}

#[test]
fn short_rows_of_expressions_with_positions() {
    for width in 1..=17 {
        for rows in heights(width) {
            let data = floats(rows * width, width as u64);
            let t = Tensor::from_vec([rows, width], data).unwrap();
            lane_by_lane!(
                format!("{rows} {width}"),
                (&t * 0.3),
                1,
                [rows, 1],
                |i, _k| (i, ..),
                ArgMax,
                (Sum, ArgMin),
                (Min, Max, Mean, Sum)
            );
        }
    }
}

#[test]
fn short_rows_of_bytes() {
    for width in 1..=17 {
        for rows in heights(width) {
            let data = floats(rows * width, 5).into_iter().map(|x| (x * 7.0) as i64 as u8);
            let t = Tensor::from_vec([rows, width], data.collect::<Vec<u8>>()).unwrap();
            let name = format!("{rows} {width}");
            lane_by_lane!(
                name,
                t.view(),
                1,
                [rows, 1],
                |i, _k| (i, ..),
                Sum,
                Max,
                ArgMax,
                Variance::default(),
                (Max, Mean),
                Chain(Some(width))
            );
            // Rows with elements between them, and columns.
            let part = || t.view().select((.., ..width.div_ceil(2))).unwrap();
            lane_by_lane!(name, part(), 1, [rows, 1], |i, _k| (i, ..), Sum, ArgMax, Chain(None));
        }
    }
}

/// Differences of all pairs of rows, in which rows begin anew within what is read at once.
#[test]
fn short_rows_of_pairs() {
    for width in [1, 2, 3, 8, 17] {
        let [rows, columns] = [37, 5000 / (37 * width) + 1];
        let a = Tensor::from_vec([rows, 1, width], floats(rows * width, 1)).unwrap();
        let b = Tensor::from_vec([1, columns, width], floats(columns * width, 2)).unwrap();
        lane_by_lane!(
            width,
            (&a - &b),
            2,
            [rows, columns],
            |i, k| (i, k, ..),
            Sum,
            Max,
            ArgMax,
            Variance::default(),
            Chain(Some(width))
        );
    }
}

/// More elements than are folded without a plan, and storage that is not memory.
#[test]
fn short_rows_of_large_operands() {
    for width in [3, 16] {
        let rows = (1 << 17) / width + 5;
        let data: Vec<u8> = (0..rows * width).map(|k| (k * k % 251) as u8).collect();
        let t = Tensor::from_vec([rows, width], data).unwrap();
        lane_by_lane!(width, t.view(), 1, [rows, 1], |i, _k| (i, ..), ArgMax, Chain(Some(width)));
        let far = Tensor::new([500, width], FromFn::new(500 * width, |k| (k * k % 251) as u8));
        let far = far.unwrap();
        lane_by_lane!(width, far.view(), 1, [500, 1], |i, _k| (i, ..), Sum, ArgMax, Chain(None));
    }
}

#[test]
fn blocks_of_two_axes() {
    for shape in [[19, 2, 23, 3], [3, 8, 40, 8], [2, 16, 70, 4], [7, 1, 300, 2], [3, 40, 5, 20]] {
        let data = floats(shape.iter().product(), 3);
        let bytes: Vec<u8> = data.iter().map(|x| (x * 9.0) as i64 as u8).collect();
        let t = Tensor::from_vec(shape, data).unwrap();
        let bytes = Tensor::from_vec(shape, bytes).unwrap();
        let sides = [shape[0], shape[2]];
        lane_by_lane!(
            format!("{shape:?}"),
            t.view(),
            [1, 3],
            sides,
            |i, k| (i, .., k, ..),
            Sum,
            Max,
            ArgMax,
            Variance::default(),
            (Sum, ArgMin)
        );
        lane_by_lane!(
            format!("{shape:?}"),
            (&t * &t),
            [1, 3],
            sides,
            |i, k| (i, .., k, ..),
            Sum,
            ArgMax
        );
        lane_by_lane!(
            format!("{shape:?}"),
            bytes.view(),
            [1, 3],
            sides,
            |i, k| (i, .., k, ..),
            Max,
            Mean
        );
    }
}

#[test]
fn windows_of_two_axes() {
    let t = Tensor::from_vec([40, 50], floats(2000, 4)).unwrap();
    for side in [2, 3, 9] {
        let sides = [41 - side, 51 - side];
        let windows = || t.view().windows(0, side).unwrap().windows(1, side).unwrap();
        lane_by_lane!(
            side,
            windows(),
            [2, 3],
            sides,
            |i, k| (i, k, .., ..),
            Sum,
            Max,
            ArgMax,
            Variance::default()
        );
        let weights = Tensor::from_vec([side, side], floats(side * side, 5)).unwrap();
        lane_by_lane!(side, (windows() * &weights), [2, 3], sides, |i, k| (i, k, .., ..), Sum);
    }
}

/// The first of several results that there are none of.
#[test]
fn first_of_short_folds_without_a_result() {
    let [rows, width] = [3000, 4];
    let mut data = vec![1_i64; rows * width];
    for row in [1500, 1501, 2900] {
        data[row * width..][..2].fill(i64::MAX);
    }
    let t = Tensor::from_vec([rows, width], data).unwrap();
    let index = |error: Error| match error {
        Error::Overflow { index, .. } => index,
        error => panic!("{error}"),
    };
    assert_eq!(index(t.sum(1).eval().unwrap_err()), [1500]);
    assert_eq!(index((&t * 1).sum(1).eval().unwrap_err()), [1500]);
    assert_eq!(index((&t * 1).sum(1).keepdims().eval().unwrap_err()), [1500, 0]);
    let blocks = t.view().reshape([150, 20, 2, 2]).unwrap();
    let blocks = blocks.transpose([0, 2, 1, 3]).unwrap();
    // Row `r` is the block of index `[r / 20, r % 20]`.
    assert_eq!(index(blocks.view().sum([1, 3]).eval().unwrap_err()), [75, 0]);
}
