//! Scans of expressions, which are evaluated piece by piece.

use super::along::Small;
use crate::support::in_pools;
use lensor::prelude::*;
use lensor::reduce::{CompensatedSum, Reducer, Undefined};
use lensor::scan::{LazyScan, Scan};
use lensor::storage::FromFn;
use quickcheck::QuickCheck;

fn options<E: Expr, R: Reducer<E::Elem>>(
    scan: LazyScan<E, R>,
    exclusive: bool,
    reverse: bool,
) -> LazyScan<E, R> {
    let scan = if exclusive { scan.exclusive() } else { scan };
    if reverse { scan.reverse() } else { scan }
}

/// Lanes that are evaluated piece by piece scan as the same elements in memory, however the operands lie.
#[test]
fn long_lanes_of_expressions_scan_as_their_elements() {
    fn law(extent: u16, rows: u8, places: (bool, bool)) -> bool {
        let (extent, rows) = (usize::from(extent) % 6000 + 1, usize::from(rows) % 4 + 1);
        let numbers = |count: usize| (0..count).map(|k| ((k * 7919) % 1013) as f64 / 7.0).collect();
        let sides = if places.0 { [extent, rows] } else { [rows, extent] };
        let t = Tensor::from_vec(sides, numbers(rows * extent)).unwrap();
        let other: Vec<f64> = numbers(extent);
        let other = Tensor::from(other);
        let turned = if places.0 { t.view().transpose([1, 0]).unwrap() } else { t.view() };
        let view = if places.1 { turned.flip(1).unwrap() } else { turned };
        let e = &view * 0.3 + &other;
        let whole = e.eval().unwrap();
        let bits = |x: Vec<f64>| x.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        [(false, false), (true, false), (false, true)].into_iter().all(|(exclusive, reverse)| {
            let found =
                in_pools(|| options(e.view().cumsum(1), exclusive, reverse).eval()?.to_vec());
            let expected = options(whole.cumsum(1), exclusive, reverse).eval().unwrap();
            let steps = in_pools(|| {
                options(e.view().scan(1, CompensatedSum), exclusive, reverse).eval()?.to_vec()
            });
            let plain = options(whole.scan(1, CompensatedSum), exclusive, reverse).eval().unwrap();
            bits(found) == bits(expected.to_vec().unwrap())
                && bits(steps) == bits(plain.to_vec().unwrap())
        })
    }
    QuickCheck::new().tests(40).quickcheck(law as fn(u16, u8, (bool, bool)) -> bool);
}

#[test]
fn failures_far_along_a_lane_of_an_expression_are_named() {
    let (rows, extent) = (3, 3000);
    let mut data = vec![1_i64; rows * extent];
    data[2 * extent + 2100] = 0;
    let t = Tensor::from_vec([rows, extent], data).unwrap();
    let ones = Tensor::full([rows, extent], 1_i64).unwrap();
    let error = Lazy::new(&ones / &t).cumsum(1).eval().unwrap_err();
    assert_eq!(error, Error::Arithmetic { index: vec![2, 2100] });
    let mut data = vec![0_i64; rows * extent];
    data[extent + 700] = i64::MAX;
    data[extent + 1999] = 1;
    let t = Tensor::from_vec([rows, extent], data).unwrap();
    let error = (&t + &(&ones * 0)).cumsum(1).eval().unwrap_err();
    assert_eq!(error, Error::Overflow { index: vec![1, 1999], target: "i64" });
}

// The last element that is not negative; asked for none, it would panic.
macro_rules! last_good {
    ($($name:ident $associative:literal)*) => { $(
        pub(crate) struct $name;

        impl Reducer<i64> for $name {
            type State = Option<i64>;
            type Out = i64;
            const ASSOCIATIVE: bool = $associative;

            fn empty(&self) -> Option<Option<i64>> {
                Some(None)
            }
            fn first(&self, x: i64) -> Option<i64> {
                (x >= 0).then_some(x)
            }
            fn step(&self, state: &mut Option<i64>, x: i64) {
                *state = self.first(x).or(*state);
            }
            fn combine(&self, state: &mut Option<i64>, later: Option<i64>) {
                *state = later.or(*state);
            }
            fn finish(&self, state: Option<i64>) -> i64 {
                state.expect("a result")
            }
            fn undefined(&self, state: &Option<i64>) -> Option<Undefined> {
                state.is_none().then_some(Undefined::Empty)
            }
        }
    )* };
}
last_good! { LastGood true LastGoodInOrder false }

/// No state is finished that is not one of the scan.
#[test]
fn states_of_other_elements_are_not_finished() {
    for extent in [1, 511, 2000, 40_000] {
        let t =
            Tensor::from((0..extent).map(|k| if k == 0 { 5 } else { -1 }).collect::<Vec<i64>>());
        let expected = vec![5; extent];
        assert_eq!(t.scan(0, LastGood).eval().unwrap().to_vec().unwrap(), expected);
        assert_eq!(t.scan(0, LastGoodInOrder).eval().unwrap().to_vec().unwrap(), expected);
        let lazy = || &t + 0;
        assert_eq!(lazy().scan(0, LastGood).eval().unwrap().to_vec().unwrap(), expected);
        assert_eq!(lazy().scan(0, LastGoodInOrder).eval().unwrap().to_vec().unwrap(), expected);
    }
}

/// What is not memory is always scanned by a plan, however few elements there are.
#[test]
fn few_elements_are_scanned_as_by_a_plan() {
    let data: Vec<f64> = (0..2400).map(|k| f64::from(k * 37 % 101) * 0.1 - 4.0).collect();
    for shape in [[1, 2400], [40, 60], [300, 8], [2400, 1]] {
        let near = Tensor::from_vec(shape, data.clone()).unwrap();
        let far = Tensor::new(shape, FromFn::new(data.len(), |k| data[k])).unwrap();
        let bits = |t: Vec<f64>| t.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        for axis in 0..2 {
            let (a, b) = (near.cumsum(axis).to_vec().unwrap(), far.cumsum(axis).to_vec().unwrap());
            assert_eq!(bits(a), bits(b), "{shape:?} {axis}");
            let (a, b) = ((&near * 3.0).cumprod(axis), (&far * 3.0).cumprod(axis));
            assert_eq!(bits(a.to_vec().unwrap()), bits(b.to_vec().unwrap()), "{shape:?} {axis}");
        }
        // Results that do not exist are named alike; rows of 60 do not reach one.
        let whole: Vec<i32> = (0..2400).map(|k| i32::from(k % 1300 > 1000)).collect();
        let near = Tensor::from_vec(shape, whole.clone()).unwrap();
        let far = Tensor::new(shape, FromFn::new(whole.len(), |k| whole[k])).unwrap();
        let found = near.scan(1, Small).to_vec();
        assert_eq!(found, far.scan(1, Small).to_vec());
        assert_eq!(found.is_err(), shape[1] == 2400, "{found:?}");
    }
}
