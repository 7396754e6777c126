//! Elements without a value: the error names the first of them, whatever the views.

use crate::model::all_indexes;
use crate::support::offline;
use crate::views::{Slots, dense};
use lensor::StorageError;
use lensor::arbitrary::{Aligned, Viewed};
use lensor::prelude::*;
use quickcheck::quickcheck;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Index at row-major position `k`.
fn index(shape: &Shape, k: usize) -> Vec<usize> {
    all_indexes(shape)[k].clone()
}

quickcheck! {
    /// A division by zero is reported at the first index where there is one.
    fn division_by_zero_names_the_first_index(operands: Aligned<i8>) -> bool {
        let [a, b] = operands.tensors();
        let b = (&b % 4).eval().unwrap();
        let [x, y] = operands.models();
        let expected = match y.iter().position(|y| y % 4 == 0) {
            Some(k) => Err(Error::Arithmetic { index: index(operands.joint(), k) }),
            None => Ok(x.iter().zip(&y).map(|(x, y)| x.wrapping_div(y % 4)).collect()),
        };
        (&a / &b).to_vec() == expected
    }

    /// So is a remainder, on top of other operators and through a box.
    fn remainder_by_zero_names_the_first_index(operands: Aligned<i8>) -> bool {
        let [a, b] = operands.tensors();
        let [_, y] = operands.models();
        let found = ((&a % (&b & 3)).boxed() * 2 + 1).eval().map(drop);
        match y.iter().position(|y| y & 3 == 0) {
            Some(k) => found == Err(Error::Arithmetic { index: index(operands.joint(), k) }),
            None => found.is_ok(),
        }
    }

    /// A checked cast that does not fit is reported with the first such element, its index and target.
    fn a_checked_cast_names_the_first_misfit(viewed: Viewed<i16>) -> bool {
        let model = dense(&viewed);
        let found = viewed.tensor().cast::<u8>().to_vec();
        match model.data.iter().position(|&x| u8::try_from(x).is_err()) {
            None => found.unwrap().into_iter().eq(model.data.iter().map(|&x| x as u8)),
            Some(k) => found == Err(Error::Cast {
                index: index(&model.shape.into(), k),
                value: model.data[k].to_string(),
                target: "u8",
            }),
        }
    }

    /// From floats: truncation toward zero, then the range; NaN never fits.
    fn a_checked_cast_of_a_float_truncates_first(viewed: Viewed<f64>) -> bool {
        let model = dense(&viewed);
        let fits = |x: f64| x.trunc() >= -128.0 && x.trunc() <= 127.0;
        let found = viewed.tensor().cast::<i8>().to_vec();
        match model.data.iter().position(|&x| !fits(x)) {
            None => found.unwrap().into_iter().eq(model.data.iter().map(|&x| x.trunc() as i8)),
            Some(k) => found == Err(Error::Cast {
                index: index(&model.shape.into(), k),
                value: format!("{:?}", model.data[k]),
                target: "i8",
            }),
        }
    }

    /// Two faults in one tree: the first in row-major order counts, and of one index the inner one.
    fn the_first_of_several_faults_counts(operands: Aligned<i8>) -> bool {
        let [a, b] = operands.tensors();
        let [x, y] = operands.models();
        let found = (a.cast::<u8>() / (&b & 1).cast::<u8>()).to_vec();
        let expected = x.iter().zip(&y).position(|(&x, &y)| x < 0 || y & 1 == 0);
        match expected.map(|k| (k, index(operands.joint(), k))) {
            None => found.is_ok(),
            Some((k, index)) if x[k] < 0 => {
                found == Err(Error::Cast { index, value: x[k].to_string(), target: "u8" })
            }
            Some((_, index)) => found == Err(Error::Arithmetic { index }),
        }
    }

    /// The fault of a view of an expression is named by an index of the view.
    fn faults_of_views_are_named_by_the_view(operands: Aligned<i8>, seed: u64) -> bool {
        let [a, b] = operands.tensors();
        let chain = crate::views::operations(seed, operands.joint(), 3);
        let [_, y] = operands.models();
        let divisors = crate::views::under(&chain, &y);
        let viewed = crate::views::view_of(&a / (&b & 3), &chain).unwrap();
        let found = viewed.eval().map(drop);
        match divisors.data.iter().position(|y| y & 3 == 0) {
            Some(k) => found == Err(Error::Arithmetic { index: index(&divisors.shape.into(), k) }),
            None => found.is_ok(),
        }
    }

    /// Dividing in place reports the first zero, for memory and for writers.
    fn division_in_place_names_the_first_zero(operands: Aligned<i8>) -> bool {
        let (joint, [x, y]) = (operands.joint().clone(), operands.models());
        let divisor = operands.operands()[1].tensor();
        let mut memory = Tensor::from_vec(joint.clone(), x.clone()).unwrap();
        let mut writer = Tensor::new(joint.clone(), Slots::new(&x)).unwrap();
        let found = (memory.try_div_assign(&divisor & 3), writer.try_rem_assign(&divisor & 3));
        match y.iter().position(|y| y & 3 == 0) {
            Some(k) => {
                let error = Err(Error::Arithmetic { index: index(&joint, k) });
                found == (error.clone(), error)
            }
            None => {
                let quotients = x.iter().zip(&y).map(|(x, y)| x.wrapping_div(y & 3));
                let remainders = x.iter().zip(&y).map(|(x, y)| x.wrapping_rem(y & 3));
                found == (Ok(()), Ok(()))
                    && memory.storage().iter().copied().eq(quotients)
                    && writer.storage().data.iter().copied().eq(remainders)
            }
        }
    }
}

/// A negative power of zero is a division by zero.
#[test]
fn a_negative_power_of_zero_is_refused() {
    let t = Tensor::from_vec([3], vec![2, 1, 0]).unwrap();
    assert_eq!(t.powi(-1).to_vec(), Err(Error::Arithmetic { index: vec![2] }));
    let t = Tensor::from_vec([2], vec![1, -1]).unwrap();
    assert_eq!(t.powi(-3).to_vec(), Ok(vec![1, -1]));
    // The power wraps to zero, though no element is zero: one over it is below 1.
    let t = Tensor::from_vec([1], vec![2_i32]).unwrap();
    assert!(t.powi(-32).to_vec().is_ok_and(|power| power == [0]));
}

/// Rows of a tile may be those of two axes, in an order that is not row-major.
#[test]
fn the_first_of_many_faults_is_found_in_merged_rows() {
    let x = Tensor::full([20, 10, 100], 1).unwrap();
    let mut d = Tensor::full([100, 10, 20], 1).unwrap();
    for [i, j, k] in [[2, 0, 0], [0, 4, 0], [19, 9, 99]] {
        d.set([k, j, i], 0).unwrap();
    }
    let turned = d.view().transpose([2, 1, 0]).unwrap();
    let error = (&x / &turned).eval().unwrap_err();
    assert_eq!(error, Error::Arithmetic { index: vec![0, 4, 0] });
}

/// A fault before an element that cannot be read is the first error, in whatever parts they are read.
#[test]
fn faults_before_elements_that_cannot_be_read_come_first() -> Result<(), Error> {
    let den = |bad: &[usize]| {
        let element = |k: usize| if bad.contains(&k) { 0 } else { 1 };
        Tensor::from((0..5000).map(element).collect::<Vec<i32>>())
    };
    for (bad, first) in [(vec![3], Some(3)), (vec![4999, 90, 91], Some(90)), (vec![101], None)] {
        let broken = Tensor::new([5000], offline(5000, 100..101))?;
        let divisors = den(&bad);
        let quotient = || &broken / &divisors;
        let of_pieces = quotient().for_each_piece(50, |_| Ok::<(), Error>(())).unwrap_err();
        let error = quotient().eval().unwrap_err();
        assert_eq!(error, of_pieces);
        match first {
            Some(first) => assert_eq!(error, Error::Arithmetic { index: vec![first] }),
            None => {
                assert!(matches!(&error, Error::Storage { index: Some(at), .. } if *at == [100]))
            }
        }
        let square = [50, 100];
        let turned = || quotient().reshape(square).unwrap().transpose([1, 0]).unwrap();
        let at = |k: usize| vec![k % 100, k / 100];
        let first = bad.iter().map(|&k| at(k)).chain([at(100)]).min().unwrap();
        let found = turned().eval().unwrap_err();
        assert_eq!(turned().for_each_piece(50, |_| Ok::<(), Error>(())).unwrap_err(), found);
        let (Error::Arithmetic { index } | Error::Storage { index: Some(index), .. }) = found
        else {
            panic!("{found}");
        };
        assert_eq!(index, first);
    }
    Ok(())
}

/// Elements that fail to be read at first.
struct Flaky(AtomicUsize);

impl Reader for Flaky {
    type Elem = i32;

    fn len(&self) -> usize {
        3
    }

    fn read(&self, address: usize) -> i32 {
        self.try_read(address).unwrap()
    }

    fn try_read(&self, address: usize) -> Result<i32, StorageError> {
        let left =
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        left.map_or(Ok(7), |_| Err(StorageError::new(address, "offline")))
    }
}

/// An error that does not come again has an index of the result, whatever its operand lacks.
#[test]
fn what_fails_once_is_told_in_the_result() {
    let mut told = 0;
    for failures in 1..9 {
        let t = Tensor::new([3], Flaky(AtomicUsize::new(failures))).unwrap();
        let found = (Tensor::full([2, 3], 1).unwrap() + &t).eval();
        if let Err(error) = found {
            let Error::Storage { index: Some(index), .. } = error else { panic!("{error}") };
            assert_eq!(index.len(), 2, "{failures}");
            told += 1;
        }
    }
    assert!(told > 0);
}

/// A sum of `[n, n]` numbers of a few, whose nests are more than can be made: operands wrap at different places.
#[test]
fn faults_of_very_many_nests_are_found_in_parts() {
    let n = (1 << 20) + 4096;
    let rows = |period: usize| {
        let all = Tensor::from((0..period as i64).collect::<Vec<_>>());
        all.broadcast([(n / period + 1) * period]).unwrap().slice(0, 0..n).unwrap()
    };
    let (a, b) = (rows(4096), rows(4099));
    let columns = a.view().insert_axis(1).unwrap() + b.view().insert_axis(1).unwrap();
    let e = &a + &b + columns;
    let shown = e.explain().unwrap();
    let planned = "planned: the first 15790080 elements, as all have very many nests";
    assert!(shown.lines().contains(&planned.to_string()), "{shown}");
    let error = e.view().cast::<u8>().sum(..).item().unwrap_err();
    let (index, value) = (vec![0, 128], "256".to_string());
    assert_eq!(error, Error::Cast { index, value, target: "u8" });
}
