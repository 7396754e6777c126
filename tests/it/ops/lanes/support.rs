//! Lanes of dense copies, and elements with all that is special about numbers.

use lensor::arbitrary::Viewed;
use lensor::lanes::SortOrder;
use std::cmp::Ordering;

/// Row-major positions of the elements of every lane along an axis.
pub(crate) fn lanes(shape: &[usize], axis: usize) -> Vec<Vec<usize>> {
    let inner: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    let lane =
        |a: usize, b: usize| (0..shape[axis]).map(|k| (a * shape[axis] + k) * inner + b).collect();
    (0..outer).flat_map(|a| (0..inner).map(move |b| (a, b))).map(|(a, b)| lane(a, b)).collect()
}

/// Applies `f` to every lane; all results are as long as the first.
pub(crate) fn map_lanes<T: Copy, U: Copy>(
    shape: &[usize],
    axis: usize,
    data: &[T],
    length: usize,
    f: impl Fn(&[T]) -> Vec<U>,
) -> (Vec<usize>, Vec<U>) {
    let mut to = shape.to_vec();
    to[axis] = length;
    let mut out: Vec<Option<U>> = vec![None; to.iter().product()];
    for (from, places) in lanes(shape, axis).iter().zip(lanes(&to, axis)) {
        let lane: Vec<T> = from.iter().map(|&k| data[k]).collect();
        for (place, result) in places.into_iter().zip(f(&lane)) {
            out[place] = Some(result);
        }
    }
    (to, out.into_iter().map(Option::unwrap).collect())
}

/// A few numbers, so that many are equal, with all that is special: signed zeros, infinities, two kinds
/// of NaN, subnormal numbers and the largest.
pub(crate) fn special(x: u8) -> f64 {
    let table = [
        0.0,
        -0.0,
        f64::NAN,
        -f64::from_bits(f64::NAN.to_bits() | 7),
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::from_bits(1),
        1.0,
        -1.0,
        1.5,
        2.0,
    ];
    table[usize::from(x) % table.len()]
}

/// Special numbers under the same views.
pub(crate) fn floats(viewed: &Viewed<u8>) -> Viewed<f64> {
    let data = viewed.data().iter().map(|&x| special(x)).collect();
    Viewed::new(viewed.chain().clone(), data).unwrap()
}

/// One of the axes, if there are any.
pub(crate) fn axis_of<T: Copy + Send + Sync>(viewed: &Viewed<T>, choice: usize) -> Option<usize> {
    choice.checked_rem(viewed.tensor().rank())
}

/// The order of numbers, NaN last, as the documentation has it.
pub(crate) fn compare(order: SortOrder) -> impl Fn(&f64, &f64) -> Ordering {
    move |a, b| match (a.is_nan(), b.is_nan()) {
        (false, false) if order == SortOrder::Ascending => a.partial_cmp(b).unwrap(),
        (false, false) => b.partial_cmp(a).unwrap(),
        (a, b) => a.cmp(&b),
    }
}

pub(crate) fn order_of(descending: bool) -> SortOrder {
    if descending { SortOrder::Descending } else { SortOrder::Ascending }
}

/// The very bits: which NaN and which zero matters.
pub(crate) fn bits(data: &[f64]) -> Vec<u64> {
    data.iter().map(|x| x.to_bits()).collect()
}

/// A lane sorted by std.
pub(crate) fn sorted(lane: &[f64], order: SortOrder) -> Vec<f64> {
    let mut lane = lane.to_vec();
    lane.sort_by(compare(order));
    lane
}

/// Positions of a lane sorted by std.
pub(crate) fn argsorted(lane: &[f64], order: SortOrder) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..lane.len()).collect();
    positions.sort_by(|&a, &b| compare(order)(&lane[a], &lane[b]));
    positions
}
