//! Taking, putting and searching along lanes.

use super::support::{axis_of, bits, compare, floats, lanes, map_lanes};
use lensor::arbitrary::Viewed;
use lensor::lanes::{Lanes, Side, SortOrder::Ascending};
use lensor::prelude::*;
use quickcheck::quickcheck;
use std::collections::BTreeMap;

/// Indexes below `extent`, as many along an axis as asked for, and of extent 1 along one other.
fn indexes(
    shape: &Shape,
    axis: usize,
    extent: usize,
    length: usize,
    narrow: usize,
) -> Tensor<Vec<usize>> {
    let mut own = shape.to_vec();
    if let Some(other) = own.get_mut(narrow).filter(|other| **other > 0) {
        *other = 1;
    }
    own[axis] = length;
    Tensor::from_index(own, |index| {
        index.iter().fold(7, |hash, digit| (hash * 31 + digit * 17) % 1009) % extent.max(1)
    })
    .unwrap()
}

/// A tensor stretched to a shape, copied.
fn stretched<T: Copy + Send + Sync>(t: &Tensor<Vec<T>>, shape: &[usize]) -> Vec<T> {
    if shape.contains(&0) {
        Vec::new()
    } else {
        t.view().broadcast(shape).unwrap().to_vec().unwrap()
    }
}

quickcheck! {
    fn taking_gives_the_elements_at_the_indices(
        viewed: Viewed<u8>, axis: usize, length: u8, narrow: usize
    ) -> bool {
        let Some(axis) = axis_of(&viewed, axis) else { return true };
        let (t, (shape, data)) = (viewed.tensor(), viewed.model());
        let length = if shape[axis] == 0 { 0 } else { usize::from(length % 5) };
        let indexes = indexes(&shape, axis, shape[axis], length, narrow % shape.rank());
        let found = t.take_along(axis, &indexes).eval().unwrap();
        let mut to = shape.to_vec();
        to[axis] = length;
        let places = stretched(&indexes, &to);
        let mut expected = vec![0; places.len()];
        for (from, to) in lanes(&shape, axis).iter().zip(lanes(&to, axis)) {
            to.iter().for_each(|&k| expected[k] = data[from[places[k]]]);
        }
        found.shape() == to && found.to_vec().unwrap() == expected
    }

    fn putting_writes_every_value(
        viewed: Viewed<u8>, axis: usize, length: u8, narrow: usize, scalar: bool
    ) -> bool {
        let Some(axis) = axis_of(&viewed, axis) else { return true };
        let (mut t, (shape, mut data)) = (viewed.tensor(), viewed.model());
        let length = if shape[axis] == 0 { 0 } else { usize::from(length % 5) };
        let indexes = indexes(&shape, axis, shape[axis], length, narrow % shape.rank());
        let mut to = shape.to_vec();
        to[axis] = length;
        let values = Tensor::from_index(to.clone(), |index| index.iter().sum::<usize>() as u8).unwrap();
        let written = if scalar {
            t.put_along(axis, &indexes, 77)
        } else {
            t.put_along(axis, &indexes, &values)
        };
        let places = stretched(&indexes, &to);
        // The first place that repeats one before it in its lane, and that one.
        let mut repeated: Option<[usize; 2]> = None;
        for (own, to) in lanes(&shape, axis).iter().zip(lanes(&to, axis)) {
            for (count, &k) in to.iter().enumerate() {
                let before = to[..count].iter().find(|&&before| places[before] == places[k]);
                if let Some(&before) = before && repeated.is_none_or(|[place, _]| k < place) {
                    repeated = Some([k, before]);
                }
            }
            to.iter().for_each(|&k| data[own[places[k]]] = if scalar { 77 } else { values.storage()[k] });
        }
        match written {
            Ok(()) => repeated.is_none() && t.to_vec().unwrap() == data,
            Err(Error::NotInjective { .. }) => t.storage() == viewed.data(),
            Err(error) => {
                let [second, first] = repeated.unwrap();
                let at = |place| Shape::from(&to).index_at(place).unwrap().to_vec();
                let mut index = at(second);
                index[axis] = places[second];
                error == Error::RepeatedIndex { index, first: at(first), second: at(second) }
                    && t.storage() == viewed.data()
            }
        }
    }

    fn sorting_is_taking_in_the_sorted_order(viewed: Viewed<u8>, axis: usize) -> bool {
        let Some(axis) = axis_of(&viewed, axis) else { return true };
        let t = floats(&viewed).tensor();
        let order = t.argsort(axis, Ascending).eval().unwrap();
        let taken = t.take_along(axis, &order).to_vec().unwrap();
        bits(&taken) == bits(&t.sort(axis, Ascending).to_vec().unwrap())
    }

    fn a_search_counts_what_comes_before(viewed: Viewed<u8>, axis: usize, right: bool) -> bool {
        let Some(axis) = axis_of(&viewed, axis) else { return true };
        let viewed = floats(&viewed);
        let (shape, data) = viewed.model();
        let side = if right { Side::Right } else { Side::Left };
        let before = |x: f64, lane: &[f64]| {
            let counts = |y: &&f64| {
                let order = compare(Ascending)(y, &x);
                order.is_lt() || right && order.is_eq()
            };
            lane.iter().filter(counts).count()
        };
        let t = viewed.tensor();
        let sorted = t.view().sort(axis, Ascending).eval().unwrap();
        let found = sorted.search_sorted_along(axis, &t, side).eval().unwrap();
        let (_, expected) = map_lanes(&shape, axis, &data, shape[axis], |lane| {
            lane.iter().map(|&x| before(x, lane)).collect()
        });
        let whole = t.view().reshape([data.len()]).unwrap().sort(0, Ascending).eval().unwrap();
        let everywhere = whole.search_sorted(&t, side).eval().unwrap();
        let all: Vec<usize> = data.iter().map(|&x| before(x, &data)).collect();
        found.to_vec().unwrap() == expected
            && everywhere.shape() == shape
            && everywhere.to_vec().unwrap() == all
    }

    fn the_mode_comes_most_often(viewed: Viewed<u8>, axis: usize) -> bool {
        let Some(axis) = axis_of(&viewed, axis) else { return true };
        let viewed = floats(&viewed);
        let (shape, data) = viewed.model();
        let t = viewed.tensor();
        if shape[axis] == 0 {
            let shape = shape.to_vec();
            return t.mode(axis).eval().unwrap_err() == Error::EmptyReduction { axis, shape };
        }
        let same = |a: &f64, b: &f64| compare(Ascending)(a, b).is_eq();
        let (_, expected) = map_lanes(&shape, axis, &data, 1, |lane| {
            let count = |x: &f64| lane.iter().filter(|y| same(x, y)).count();
            let most = lane.iter().map(count).max().unwrap();
            let often: Vec<f64> = lane.iter().copied().filter(|x| count(x) == most).collect();
            vec![often.iter().copied().min_by(|a, b| compare(Ascending)(a, b)).unwrap()]
        });
        let found = t.mode(axis).eval().unwrap();
        found.rank() + 1 == shape.rank() && bits(&found.to_vec().unwrap()) == bits(&expected)
    }

    fn unique_elements_make_up_the_operand(viewed: Viewed<u8>) -> bool {
        let viewed = floats(&viewed);
        let (shape, data) = viewed.model();
        let unique = viewed.tensor().unique().unwrap();
        let (values, first) = (unique.values.to_vec().unwrap(), unique.first.to_vec().unwrap());
        let same = |a: &f64, b: &f64| compare(Ascending)(a, b).is_eq();
        let ascend = values.windows(2).all(|pair| compare(Ascending)(&pair[0], &pair[1]).is_lt());
        let firsts = values.iter().map(|x| data.iter().position(|y| same(x, y)).unwrap());
        let counts = values.iter().map(|x| data.iter().filter(|y| same(x, y)).count());
        let inverse = unique.inverse.to_vec().unwrap();
        ascend
            && firsts.eq(first.iter().copied())
            && counts.eq(unique.counts.to_vec().unwrap())
            && unique.inverse.shape() == shape
            && inverse.iter().zip(&data).all(|(&kind, x)| same(&values[kind], x))
            && first.iter().zip(&values).all(|(&k, x)| data[k].to_bits() == x.to_bits())
    }
}

/// Keys that are close are counted in a table, others sorted: the same kinds.
#[test]
fn unique_integers_are_those_of_an_ordered_map() {
    macro_rules! check {
        ($($data:expr;)*) => { $(
            let data: Vec<_> = $data;
            let mut expected = BTreeMap::new();
            for (at, &x) in data.iter().enumerate() {
                expected.entry(x).or_insert((at, 0)).1 += 1;
            }
            let unique = Tensor::from(data.clone()).unique().unwrap();
            let values = unique.values.to_vec().unwrap();
            assert!(values.iter().eq(expected.keys()));
            let (first, counts) = (unique.first.storage(), unique.counts.storage());
            let found = first.iter().copied().zip(counts.iter().copied());
            assert!(found.eq(expected.values().copied()));
            assert!(unique.inverse.storage().iter().map(|&kind| values[kind]).eq(data));
        )* };
    }
    for count in [1, 2, 255, 256, 257, 3000] {
        let mixed = || (0..count).map(|k| (k * 7919 + k * k) % 1009);
        check! {
            mixed().map(|k| k as u8).collect();
            mixed().map(|k| k as i8).collect();
            mixed().map(|k| k % 3 == 0).collect();
            mixed().map(|k| k as i16 - 500).collect();
            mixed().map(|k| k as usize).collect();
            mixed().map(|k| i64::MIN + k * 7).collect();
            mixed().map(|k| if k == 5 { i64::MAX } else { i64::MIN + k }).collect();
            mixed().map(|k| u128::MAX - k as u128).collect();
            mixed().map(|k| (k as u128 % 17) << 100).collect();
        }
    }
}

/// Nothing is written before all is checked and computed.
#[test]
fn putting_writes_all_or_nothing() {
    let before: Vec<i32> = (0..3000).collect();
    let mut t = Tensor::from_vec([3, 1000], before.clone()).unwrap();
    let at = Tensor::from_vec([3, 2], vec![5, 999, 7, 7, 3, 3]).unwrap();
    let error = |index, first, second| {
        let [index, first, second] = [index, first, second].map(|place: [usize; 2]| place.to_vec());
        Err(Error::RepeatedIndex { index, first, second })
    };
    assert_eq!(t.put_along(1, &at, -1), error([1, 7], [1, 0], [1, 1]));
    // Of several the first in row-major order: here of the second lane.
    let mut turned = t.view_mut().transpose([1, 0]).unwrap();
    let at = Tensor::from_nested([[5_usize, 7, 0], [6, 7, 1], [5, 8, 2]]).unwrap();
    assert_eq!(turned.put_along(0, &at, -1), error([7, 1], [0, 1], [1, 1]));
    let apart = Tensor::from_vec([3, 2], vec![5, 999, 7, 8, 3, 1000]).unwrap();
    let outside = Error::IndexAt { at: vec![2, 1], axis: 1, index: 1000, extent: 1000 };
    assert_eq!(t.put_along(1, &apart, -1), Err(outside));
    let inside = apart.minimum(999).eval().unwrap();
    let divisors = Tensor::from_vec([3, 2], vec![1, 1, 1, 1, 1, 0]).unwrap();
    let found = t.put_along(1, &inside, 60 / &divisors);
    assert_eq!(found, Err(Error::Arithmetic { index: vec![2, 1] }));
    assert_eq!(t.storage(), &before);
    t.put_along(1, &inside, -1).unwrap();
    let written = t.equal(-1).nonzero().unwrap().to_vec().unwrap();
    assert_eq!(written, [0, 5, 0, 999, 1, 7, 1, 8, 2, 3, 2, 999]);
}

/// So few elements of each lane that they are read and written without the others.
#[test]
fn few_elements_of_long_lanes() {
    let shape = [24, 5, 40];
    let data: Vec<i64> = (0..24 * 5 * 40).collect();
    let t = Tensor::from_vec(shape, data.clone()).unwrap();
    let turned = &t.view().transpose([2, 0, 1]).unwrap().flip(1).unwrap();
    for length in 1..=3 {
        for (axis, extent) in [(0, 40), (1, 24)] {
            let mut own = [40, 24, 5];
            own[axis] = length;
            let at = Tensor::from_index(own, |i| (i[0] * 7 + i[1] * 11 + i[2] + i[axis]) % extent);
            let at = at.unwrap().eval().unwrap();
            let expected: Vec<i64> = (at.shape().indexes().unwrap())
                .map(|mut index| {
                    index[axis] = at.get(&index).unwrap();
                    turned.get(&index).unwrap()
                })
                .collect();
            assert_eq!(turned.view().take_along(axis, &at).to_vec().unwrap(), expected);
            assert_eq!((turned + 1 - 1).take_along(axis, &at).to_vec().unwrap(), expected);
            // One list for all lanes.
            let column = at.view().select((..1, ..1, ..1)).unwrap();
            let list = turned.view().take_along(axis, column).eval().unwrap();
            let k = at.get([0, 0, 0]).unwrap();
            assert_eq!(list, turned.view().slice(axis, k..k + 1).unwrap());
        }
    }
    let mut out = t.clone();
    let at = Tensor::from_vec([1, 5, 40], vec![23_usize; 200]).unwrap();
    out.view_mut().put_along(0, &at, -1).unwrap();
    assert_eq!(out.view().select((23,)).unwrap(), Tensor::full([5, 40], -1_i64).unwrap());
    assert_eq!(out.sum(..).item().unwrap(), data[..23 * 200].iter().sum::<i64>() - 200);
    let outside = Tensor::from_vec([1, 1, 2], vec![3_usize, 24]).unwrap();
    let error = t.view().select((.., .., ..2)).unwrap().take_along(0, &outside).eval().unwrap_err();
    assert_eq!(error, Error::IndexAt { at: vec![0, 0, 1], axis: 0, index: 24, extent: 24 });
    // Elements elsewhere are not computed.
    for zero in [0, 7] {
        let divided = 1000 / (&t - zero);
        let taken = divided.take_along(0, &at);
        let text = taken.explain().unwrap().to_string();
        assert!(text.contains("without lanes"), "{text}");
        assert!(taken.eval().is_ok());
    }
    let bad = Tensor::from_vec([1, 5, 40], vec![0_usize; 200]).unwrap();
    let error = (1000 / (&t - 7)).take_along(0, &bad).eval().unwrap_err();
    assert_eq!(error, Error::Arithmetic { index: vec![0, 0, 7] });
}

/// Many needles are searched for as few are.
#[test]
fn many_needles_are_found_where_each_is() {
    let sorted = Tensor::from(vec![
        f64::NEG_INFINITY,
        -1.5,
        -0.0,
        0.0,
        0.0,
        2.0,
        f64::INFINITY,
        f64::NAN,
        -f64::NAN,
    ]);
    let all = [
        -f64::NAN,
        0.0,
        f64::NEG_INFINITY,
        -0.0,
        7.0,
        f64::INFINITY,
        -1.5,
        f64::NAN,
        2.0,
        -9.0,
        1e-300,
    ];
    let needles = Tensor::from_vec([11, 3], all.repeat(3)).unwrap();
    let left =
        |x: f64| if x.is_nan() { 7 } else { sorted.storage().iter().filter(|y| **y < x).count() };
    let right =
        |x: f64| if x.is_nan() { 9 } else { sorted.storage().iter().filter(|y| **y <= x).count() };
    let found = |side| sorted.search_sorted(&needles, side).to_vec().unwrap();
    assert_eq!(found(Side::Left), needles.storage().iter().map(|&x| left(x)).collect::<Vec<_>>());
    assert_eq!(found(Side::Right), needles.storage().iter().map(|&x| right(x)).collect::<Vec<_>>());
    let along = sorted.search_sorted_along(0, needles.view().reshape([33]).unwrap(), Side::Left);
    assert_eq!(along.to_vec().unwrap(), found(Side::Left));
    for (k, &x) in needles.storage().iter().enumerate() {
        let one = Tensor::from(vec![x]);
        assert_eq!(sorted.search_sorted(&one, Side::Left).item().unwrap(), found(Side::Left)[k]);
        assert_eq!(sorted.search_sorted(&one, Side::Right).item().unwrap(), found(Side::Right)[k]);
    }
    let none = Tensor::from(vec![0.0; 0]);
    assert_eq!(none.search_sorted(&needles, Side::Right).to_vec().unwrap(), [0; 33]);
}
