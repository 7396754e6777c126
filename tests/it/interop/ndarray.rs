//! Arrays of ndarray as tensors, and views as arrays: the same elements, where they lay.

use lensor::arbitrary::Viewed;
use lensor::interop::ndarray::{
    from_array, from_shared, from_view, from_view_mut, gapped, into_array, ndarray, to_array, view,
    view_mut,
};
use lensor::storage::conformance::check_reader;
use lensor::{AddressMap, Error, Reader, Tensor};
use ndarray::{ArcArray, Array, ArrayD, Axis, IxDyn, Slice, array, s};
use quickcheck::quickcheck;

fn elements<S: Reader>(t: &Tensor<S>) -> (Vec<usize>, Vec<S::Elem>) {
    (t.shape().to_vec(), t.to_vec().unwrap())
}

fn of<T: Copy>(a: &ArrayD<T>) -> (Vec<usize>, Vec<T>) {
    (a.shape().to_vec(), a.iter().copied().collect())
}

/// An array under cuts, steps, reversals and another order of axes.
fn cut(mut a: ArrayD<i32>, numbers: &[u8]) -> ArrayD<i32> {
    for &number in numbers.iter().take(6) {
        if a.ndim() == 0 {
            break;
        }
        let axis = Axis(number as usize % a.ndim());
        let extent = a.len_of(axis);
        match number % 5 {
            0 => a.invert_axis(axis),
            1 if extent > 0 => a.slice_axis_inplace(axis, Slice::from(1..)),
            2 => a.slice_axis_inplace(axis, Slice::from(..).step_by(2)),
            3 => a.swap_axes(0, axis.0),
            _ => a.slice_axis_inplace(axis, Slice::from(..).step_by(-1)),
        }
    }
    a
}

quickcheck! {
    /// Any view becomes the array of its elements, shared where that can be.
    fn views_become_arrays(viewed: Viewed<i32>) -> bool {
        let (shape, data) = viewed.model();
        let expected = (shape.to_vec(), data);
        let mut t = viewed.tensor();
        assert_eq!(of(&to_array(&t).unwrap()), expected);
        let strided = t.address_map().check_strided();
        match view(&t) {
            Ok(shown) => {
                assert_eq!((shown.shape().to_vec(), shown.iter().copied().collect()), expected);
                if !shown.is_empty() {
                    let first = &t.storage()[strided.unwrap().offset];
                    assert!(std::ptr::eq(shown.as_ptr(), first));
                    assert!(shown.ndim() > 0 || shown[[]] == *first);
                }
                let again = from_view(shown.view());
                match again {
                    Ok(again) => assert_eq!(elements(&again), expected),
                    Err(error) => assert!(matches!(error, Error::NotStrided { axis: None, stages: 1, .. })),
                }
                assert_eq!(elements(&gapped(shown).unwrap()), expected);
            }
            Err(error) => assert_eq!(Err(error), strided),
        }
        match view_mut(&mut t) {
            Ok(mut shown) => {
                shown.iter_mut().for_each(|x| *x = x.wrapping_mul(3));
                let tripled = expected.1.iter().map(|x| x.wrapping_mul(3)).collect();
                assert_eq!(elements(&t), (expected.0.clone(), tripled));
            }
            Err(Error::NotStrided { .. } | Error::NotInjective { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        let t = viewed.tensor();
        let first = t.storage().as_ptr();
        let (starts, injective) = (t.address_map().span().start, t.address_map().is_injective());
        match into_array(t) {
            Ok(a) => {
                assert_eq!(of(&a), expected);
                let (data, _) = a.into_raw_vec_and_offset();
                assert_eq!(data.as_ptr(), first);
            }
            Err(Error::NotStrided { reason, .. }) => assert!(
                starts > 0 || reason.contains("map") || reason.contains("is ") || reason.contains("overlap"),
                "{reason}"
            ),
            Err(error) => assert!(!injective, "{error}"),
        }
        true
    }

    /// Any array becomes the tensor of its elements, where they lie.
    fn arrays_become_tensors(viewed: Viewed<i32>, numbers: Vec<u8>) -> bool {
        let a = cut(to_array(&viewed.tensor()).unwrap(), &numbers);
        let expected = of(&a);
        let g = gapped(a.view()).unwrap();
        assert_eq!(elements(&g), expected);
        check_reader(g.storage()).unwrap();
        let order: Vec<usize> = (0..a.ndim()).rev().collect();
        let reversed = a.t().iter().copied().collect::<Vec<_>>();
        assert_eq!(g.transpose(&order).unwrap().to_vec().unwrap(), reversed);
        let shared = ArcArray::from(a.clone());
        match (from_view(a.view()), from_shared(shared.clone())) {
            (Ok(t), Ok(s)) => {
                assert_eq!(elements(&t), expected);
                assert_eq!(elements(&s), expected);
                check_reader(s.storage()).unwrap();
                if !a.is_empty() {
                    assert_eq!(t.storage().as_ptr(), a.as_slice_memory_order().unwrap().as_ptr());
                    assert_eq!(s.storage().as_slice().unwrap().len(), a.len());
                }
            }
            (Err(error), _) => {
                assert!(a.as_slice_memory_order().is_none());
                let text = "no strides describe this view: it has gaps or repeats elements, which `gapped` reads \
                    where they lie";
                assert_eq!(error.to_string(), text);
            }
            (Ok(_), Err(error)) => assert!(shared.as_slice_memory_order().is_none(), "{error}"),
        }
        let mut b = a.clone();
        if let Ok(mut t) = from_view_mut(b.view_mut()) {
            t.map_in_place(|x| x.wrapping_add(1)).unwrap();
            assert_eq!(b, a.mapv(|x| x.wrapping_add(1)));
        }
        let t = from_array(a).unwrap();
        assert_eq!(elements(&t), expected);
        true
    }
}

#[test]
fn memory_is_shared() {
    let a = Array::from_shape_fn((300, 70), |(i, j)| (i * 70 + j) as f64);
    let first = a.as_ptr();
    let t = from_array(a).unwrap();
    assert_eq!(t.storage().as_ptr(), first);
    let a = into_array(t.transpose([1, 0]).unwrap()).unwrap();
    assert_eq!((a.as_ptr(), a.shape()), (first, &[70, 300][..]));
    let c = ArcArray::from(a);
    let t = from_shared(c.clone()).unwrap();
    assert_eq!(t.storage().owner().array().as_ptr(), c.as_ptr());
    assert_eq!(t.clone().sum_of_all(), c.sum());
    let part = c.slice(s![3..60, ..;-7]);
    let expected: Vec<f64> = part.iter().copied().collect();
    assert_eq!(gapped(part).unwrap().to_vec().unwrap(), expected);
}

trait SumOfAll {
    fn sum_of_all(self) -> f64;
}

impl<S: Reader<Elem = f64>> SumOfAll for Tensor<S> {
    fn sum_of_all(self) -> f64 {
        use lensor::prelude::*;
        self.sum(..).eval().unwrap().item().unwrap()
    }
}

#[test]
fn what_cannot_be_shared_says_why() {
    let t = Tensor::from_vec([2, 3], vec![1, 2, 3, 4, 5, 6]).unwrap();
    let says = |found: Result<(), Error>, text: &str| {
        assert_eq!(
            found.unwrap_err().to_string(),
            format!("no strides describe this view: {text}")
        );
    };
    let ok = |t: &Tensor<&Vec<i32>>| view(t).map(drop);
    says(ok(&t.view().rotate([0, 1]).unwrap()), "axis 1 is rotated or repeated");
    says(ok(&t.view().select((.., vec![0, 0, 2])).unwrap()), "axis 1 is a list of positions");
    let stages = t.view().transpose([1, 0]).unwrap().reshape([6]).unwrap();
    says(ok(&stages), "its map has several stages");
    let computed = Tensor::constant([2, 2], 1).unwrap();
    says(view(&computed).map(drop), "its storage is not memory");
    let later = t.clone().select((1,)).unwrap();
    says(into_array(later).map(drop), "it begins behind the first element of its memory");
    let mut repeated = t.view().broadcast([2, 2, 3]).unwrap();
    assert_eq!(
        view(&repeated).unwrap(),
        array![[[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [4, 5, 6]]].into_dyn()
    );
    let owned = repeated.to_vec().unwrap();
    assert_eq!(owned.len(), 12);
    repeated = repeated.flip(0).unwrap();
    assert!(view(&repeated).is_ok());
    let mut own = Tensor::from(vec![1, 2]).broadcast([2, 2]).unwrap();
    let error = view_mut(&mut own).unwrap_err();
    assert!(matches!(error, Error::NotInjective { .. }), "{error}");
    let deep = ArrayD::<u8>::zeros(IxDyn(&[1; 65]));
    assert!(matches!(from_view(deep.view()), Err(Error::RankLimit { rank: 65, .. })));
    assert!(matches!(gapped(deep.view()), Err(Error::RankLimit { rank: 65, .. })));
    assert!(matches!(from_array(deep), Err(Error::RankLimit { rank: 65, .. })));
}

#[test]
fn strides_are_checked() {
    let wrong = |shape: &[usize], offset: usize, strides: &[isize]| {
        AddressMap::from_strides(shape, offset, strides).unwrap_err()
    };
    assert!(matches!(wrong(&[2, 3], 2, &[-3, 1]), Error::NegativeAddress { lowest: -1, .. }));
    assert!(matches!(wrong(&[2], 0, &[]), Error::Rank { what: "strides", expected: 1, found: 0 }));
    assert!(matches!(wrong(&[2], usize::MAX, &[1]), Error::AddressOverflow { .. }));
    assert!(matches!(wrong(&[3, 3], 0, &[isize::MAX, 1]), Error::AddressOverflow { .. }));
    assert!(matches!(wrong(&[3], isize::MAX as usize - 1, &[1]), Error::AddressOverflow { .. }));
    let empty = AddressMap::from_strides([0, 3], 0, [-3, 1]).unwrap();
    assert_eq!(empty.count(), 0);
}

/// Within a row with gaps nobody comes to an element by way of those before it.
#[test]
fn rows_with_gaps_are_read_from_anywhere() {
    let far = 1 << 48;
    let ones = array![1];
    let t = gapped(ones.broadcast(far).unwrap()).unwrap();
    let mut out = [0; 5];
    t.storage().read_run(far - 7, 1, &mut out).unwrap();
    assert_eq!(out, [1; 5]);
    let tall = Array::from_shape_fn((100, 3), |(row, column)| row * 3 + column);
    let t = gapped(tall.t()).unwrap();
    for start in 0..295 {
        let mut out = [0; 5];
        t.storage().read_run(start, 1, &mut out).unwrap();
        let expected = [0, 1, 2, 3, 4].map(|k| (start + k) % 100 * 3 + (start + k) / 100);
        assert_eq!(out, expected, "from {start}");
    }
}
