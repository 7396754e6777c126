//! Values that say how something is done are compared, hashed and copied.

use lensor::AddressMap;
use lensor::gufunc::Signature;
use lensor::lanes::{Lanes, Side};
use lensor::map::{Counts, IntoMask};
use lensor::prelude::*;
use lensor::ragged::{Extent, Ragged, Stretch};
use lensor::reduce::*;
use lensor::stencil::{Border, EdgeOrder, Mode};
use lensor::storage::{Constant, Impulse, Progression};
use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

/// Of these each is equal to itself alone.
fn differ<T: Clone + Debug + Eq + Hash>(all: impl IntoIterator<Item = T>) {
    let all: Vec<T> = all.into_iter().collect();
    for (k, x) in all.iter().enumerate() {
        assert_eq!(all.iter().position(|y| x.clone() == *y), Some(k), "{x:?}");
    }
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
}

#[test]
fn values_are_compared_and_hashed() {
    differ([Axes::default(), Axes::One(0), Axes::From(0), Axes::Listed(vec![0])]);
    differ([Border::Zero, Border::Clamp, Border::Wrap, Border::Reflect]);
    differ([Mode::Valid, Mode::Same(Border::Zero), Mode::Same(Border::Wrap)]);
    differ([EdgeOrder::First, EdgeOrder::Second]);
    differ([Side::default(), Side::Right]);
    differ([Stretch::default(), Stretch::Strict]);
    differ([Extent::Var, Extent::Fixed(1), Extent::Fixed(2)]);
    differ([Undefined::Overflow, Undefined::Empty]);
    differ([Counts::All(2), Counts::from(vec![2]), Counts::from(vec![2, 2])]);
    differ([[true, false], [false, true]].map(|mask| mask.into_mask().unwrap()));
    differ(["(n)->()", "(m)->()", "(n?)->()", "(n)->(n+1)"].map(|s| Signature::parse(s).unwrap()));
    differ([Constant::new(1, 2), Constant::new(2, 1)]);
    differ([Progression::new(1, 2, 3), Progression::new(1, 3, 2)]);
    differ([Impulse::new(4, 0, 2, 1), Impulse::new(4, 1, 2, 0)]);
    let map = AddressMap::row_major([2, 3]).unwrap();
    differ([map.clone(), map.transpose([1, 0]).unwrap()].map(|map| map.as_strided().unwrap()));
}

#[test]
fn reducers_are_compared_and_hashed() {
    differ([Variance::default(), Variance { ddof: 1 }]);
    differ([StandardDeviation::default(), StandardDeviation { ddof: 1 }]);
    differ([Covariance::default(), Covariance { ddof: 1 }]);
    differ([SkipNan(Variance::default()), SkipNan(Variance { ddof: 1 })]);
    differ([Filtered(Variance::default()), Filtered(Variance { ddof: 1 })]);
    differ([SameType(Variance::default()), SameType(Variance { ddof: 1 })]);
    differ([Maybe(Variance::default()), Maybe(Variance { ddof: 1 })]);
    differ([(Sum, Mean, Min, Max)]);
    differ([(Product, ArgMin, ArgMax, PeakToPeak)]);
    differ([(WrappingSum, WrappingProduct, NaiveSum, CompensatedSum)]);
    differ([(Any, All, CountNonzero, LogSumExp)]);
    differ([(NormL1, Norm, NormMax)]);
}

/// Results of one operation are equal where all parts are.
#[test]
fn unique_elements_are_compared() {
    let unique = |elements: Vec<i32>| Tensor::from(elements).unique().unwrap();
    assert_eq!(unique(vec![3, 1, 3]), unique(vec![3, 1, 3]));
    assert_ne!(unique(vec![3, 1, 3]), unique(vec![3, 1, 1]));
}

/// A clone goes on by itself, and copies no elements.
#[test]
fn views_of_rows_are_cloned() {
    let r = Ragged::from_nested([vec![1, 2], vec![], vec![3]]).unwrap();
    let padded = r.view().padded(1, None, 0).unwrap();
    let twice = (padded.clone() + padded).eval().unwrap();
    assert_eq!(twice.to_vec().unwrap(), [2, 4, 0, 0, 6, 0]);
    let t = Tensor::from_nested([[1, 2], [3, 4], [5, 6]]).unwrap();
    let mut rows = t.axis_iter(0).unwrap();
    rows.next();
    let mut rest = rows.clone();
    assert_eq!(rest.next().unwrap().to_vec().unwrap(), [3, 4]);
    assert_eq!((rows.len(), rest.len()), (2, 1));
    assert_eq!(rows.next_back().unwrap().to_vec().unwrap(), [5, 6]);
}
