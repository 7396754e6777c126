//! Functions of operands of different rank, and several reducers at once.

use super::{axis_sets, floats};
use lensor::Align;
use lensor::prelude::*;
use lensor::reduce::*;

#[test]
fn larger_operands_are_reduced_first() {
    let x = Tensor::from_vec([3, 4, 5], floats(60, 1)).unwrap();
    for (order, y_shape) in [(AxisOrder::C, [3, 4]), (AxisOrder::F, [4, 5])] {
        let y = Tensor::from_vec(y_shape, floats(y_shape.iter().product(), 2)).unwrap();
        let found = (&x, &y).accumulate_mode(order, Sum, |(sum, y)| sum * y);
        let sums = x.sum(if order == AxisOrder::C { 2 } else { 0 }).eval().unwrap();
        assert_eq!(found.eval().unwrap(), (&sums * &y).eval().unwrap(), "{order:?}");
        // A scalar has the least rank, so all others are reduced to one element.
        let all = (&y, &x, 2.0).accumulate_mode(order, Sum, |(y, x, two)| (x - y) * two);
        let [y_sum, x_sum] = [&y.sum(..).eval().unwrap(), &x.sum(..).eval().unwrap()];
        assert_eq!(all.eval().unwrap(), ((x_sum - y_sum) * 2.0).eval().unwrap());
        // Operands in any place, and several outputs at once.
        let both = (&y, &x).accumulate_mode(order, Max, |(y, most)| (most - y, most + y));
        let (low, high) = both.eval().unwrap().separate().unwrap();
        let most = x.max(if order == AxisOrder::C { 2 } else { 0 }).eval().unwrap();
        assert_eq!(low, (&most - &y).eval().unwrap());
        assert_eq!(high, (&most + &y).eval().unwrap());
    }
}

#[test]
fn smaller_operands_are_repeated() {
    let x = Tensor::from_vec([3, 4, 4], floats(48, 3)).unwrap();
    let y = Tensor::from_vec([3], floats(3, 4)).unwrap();
    let z = Tensor::from_vec([4], floats(4, 5)).unwrap();
    let by_row = (&x, &y).broadcast_mode(AxisOrder::C, |(x, y)| x * y);
    let wide = y.view().reshape([3, 1, 1]).unwrap();
    assert_eq!(by_row.eval().unwrap(), (&x * &wide).eval().unwrap());
    let by_column = (&z, &x).broadcast_mode(AxisOrder::F, |(z, x)| x - z);
    assert_eq!(by_column.eval().unwrap(), (&x - &z).eval().unwrap());
}

/// What one mode does, the other undoes for gradients: with `z = f(x, y)` in broadcast mode, the gradient of
/// `y` accumulates over the axes along which it was repeated.
#[test]
fn modes_are_adjoint() {
    let x = Tensor::from_vec([3, 4], floats(12, 6)).unwrap();
    let y = Tensor::from_vec([3], floats(3, 7)).unwrap();
    let gradient = (&x, &y).accumulate_mode(AxisOrder::C, Sum, |(sum, _)| sum).eval().unwrap();
    let moved = |k: usize| {
        let mut y = y.clone();
        y.set([k], y.get([k]).unwrap() + 1.0).unwrap();
        let z = (&x, &y).broadcast_mode(AxisOrder::C, |(x, y)| x * y);
        z.sum(..).eval().unwrap().item().unwrap()
    };
    let still = (&x, &y).broadcast_mode(AxisOrder::C, |(x, y)| x * y);
    let still = still.sum(..).eval().unwrap().item().unwrap();
    for k in 0..3 {
        assert!((moved(k) - still - gradient.get([k]).unwrap()).abs() < 1e-6);
    }
}

/// Scalars, and expressions of nothing else, stand at every index.
#[test]
fn scalars_are_broadcast() {
    let x = Tensor::from_vec([2, 2], vec![1, 2, 3, 4]).unwrap();
    for order in [AxisOrder::C, AxisOrder::F] {
        let sums = (&x, 10).broadcast_mode(order, |(x, y)| x + y);
        assert_eq!(sums.to_vec().unwrap(), [11, 12, 13, 14]);
        let sums = (Lazy::new(1) + 1, &x).broadcast_mode(order, |(x, y)| x + y);
        assert_eq!(sums.to_vec().unwrap(), [3, 4, 5, 6]);
    }
    let aligned = (&x, Tensor::from(vec![1, 2]).lazy()).broadcast_mode(Align::Left, |(x, y)| x * y);
    assert_eq!(aligned.to_vec().unwrap(), [1, 2, 6, 8]);
}

#[test]
fn shapes_must_align() {
    let x = Tensor::from_vec([3, 4], floats(12, 8)).unwrap();
    let y = Tensor::from_vec([4], floats(4, 9)).unwrap();
    let error = (&x, &y).broadcast_mode(AxisOrder::C, |(x, y)| x + y).shape().unwrap_err();
    assert_eq!(
        error.to_string(),
        "operands could not be broadcast: argument 2 has shape [4], the result so far is [3, 4], \
         axis 0: 4 vs 3"
    );
    let error = (&x, &y).accumulate_mode(AxisOrder::C, Sum, |(x, y)| x + y).shape().unwrap_err();
    assert!(matches!(error, Error::Operands { .. }));
    assert!((&x, &y).accumulate_mode(AxisOrder::F, Sum, |(x, y)| x + y).shape().is_ok());
}

#[test]
fn several_reducers_and_functions_of_results() {
    let t = Tensor::from_vec([40, 50], floats(2000, 8)).unwrap();
    for axes in axis_sets(2) {
        let together =
            t.fold(axes.clone(), (Sum, Min, ArgMax, Variance { ddof: 0 })).eval().unwrap();
        let (sums, least, positions, spread) = together.separate().unwrap();
        assert_eq!(sums, t.sum(axes.clone()).eval().unwrap());
        assert_eq!(least, t.min(axes.clone()).eval().unwrap());
        assert_eq!(positions, t.argmax(axes.clone()).eval().unwrap());
        assert_eq!(spread.len(), sums.len());
        let halves = t.sum(axes.clone()).map(|x: f64| x / 2.0).eval().unwrap();
        assert_eq!(halves, (&sums / 2.0).eval().unwrap());
    }
}

#[test]
fn views_of_tuples_are_taken_apart_as_they_are_seen() {
    let t = Tensor::from_vec([4, 5, 6], floats(120, 9)).unwrap();
    let both = t.fold(2, (Min, Max)).eval().unwrap();
    let (least, most) = both.clone().transpose([1, 0]).unwrap().separate().unwrap();
    assert!(least.try_equal(t.min(2).transpose([1, 0]).unwrap()).unwrap());
    assert!(most.try_equal(t.max(2).transpose([1, 0]).unwrap()).unwrap());
    let (least, _) = both.slice(0, 1..).unwrap().flip(1).unwrap().separate().unwrap();
    assert!(least.try_equal(t.min(2).slice(0, 1..).unwrap().flip(1).unwrap()).unwrap());
}
