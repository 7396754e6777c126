//! What is no product, and storage that lies.

use super::check;
use crate::support::fails;
use lensor::product::{MinPlus, PlusTimes};
use lensor::storage::Sparse;
use lensor::{Error, Reader, Stored, Tensor};

#[test]
fn what_cannot_be_multiplied() {
    let a = Tensor::new([2, 3], Sparse::new(6, 0)).unwrap();
    let what = "a product of entries";
    fails(
        a.times_sparse(&a, PlusTimes),
        Error::Contraction { left: vec![2, 3], right: vec![2, 3], left_axis: 1, right_axis: 0 },
        "cannot multiply shapes [2, 3] and [2, 3]: axis 1 of the first has extent 3, axis 0 of the second 2",
    );
    fails(
        a.times_dense(&Tensor::from(vec![1, 2]), PlusTimes).eval(),
        Error::Contraction { left: vec![2, 3], right: vec![2], left_axis: 1, right_axis: 0 },
        "cannot multiply shapes [2, 3] and [2]: axis 1 of the first has extent 3, axis 0 of the second 2",
    );
    let dense = Tensor::full([3, 2], 1).unwrap();
    fails(
        a.times_sparse(&dense, PlusTimes),
        Error::NotSparse { what, argument: 2 },
        "a product of entries needs entries, argument 2 is not sparse: `to_sparse(fill)` makes it so",
    );
    fails(
        dense.times_dense(&a, PlusTimes).eval(),
        Error::NotSparse { what, argument: 1 },
        "a product of entries needs entries, argument 1 is not sparse: `to_sparse(fill)` makes it so",
    );
    let ones = Tensor::new([3, 2], Sparse::new(6, 1)).unwrap();
    fails(
        a.times_sparse(&ones, PlusTimes),
        Error::FillNotZero { what, argument: 2 },
        "a product of entries needs a fill value of zero, argument 2 has another",
    );
    let error = a.times_sparse(&a.view().transpose([1, 0]).unwrap(), MinPlus).unwrap_err();
    assert_eq!(error, Error::FillNotZero { what, argument: 1 });
    let negative = Tensor::new([1], Sparse::new(1, -0.0)).unwrap();
    assert!(negative.times_sparse(&negative, PlusTimes).is_err());
    let point = Tensor::new([], Sparse::new(1, 0)).unwrap();
    fails(
        point.times_sparse(&a, PlusTimes),
        Error::ExpectedRank { expected: 1, shape: vec![] },
        "expected a tensor of rank 1, found shape []",
    );
    let error = a.times_sparse(&point, PlusTimes).unwrap_err();
    assert_eq!(error, Error::ExpectedRank { expected: 1, shape: vec![] });
    let error = a.contract(&a, &[(0, 0), (0, 1)], PlusTimes).unwrap_err();
    assert_eq!(error, Error::RepeatedAxis { axis: 0 });
    let error = a.contract(&a, &[(0, 0), (2, 1)], PlusTimes).unwrap_err();
    assert_eq!(error, Error::Axis { axis: 2, rank: 2 });
    let (x, mut short) = (Tensor::from(vec![1, 2, 3]), Tensor::full([3], 0).unwrap());
    fails(
        a.times_dense(&x, PlusTimes).assign_to(&mut short),
        Error::Destination { expected: vec![3], found: vec![2] },
        "cannot assign shape [2] to a destination of shape [3]",
    );
    let mut repeated = Tensor::full([1], 0).unwrap().broadcast([2]).unwrap();
    let error = a.times_dense(&x, PlusTimes).assign_to(&mut repeated).unwrap_err();
    assert_eq!(error, Error::NotInjective { axis: 0 });
    let scalar = a.contract(&a, &[(0, 0), (1, 1)], PlusTimes).unwrap();
    assert_eq!((scalar.rank(), scalar.item()), (0, Ok(0)));
}

/// Storage whose entries fall, repeat and lie outside.
struct Lies(Vec<usize>);

impl Reader for Lies {
    type Elem = i32;
    fn len(&self) -> usize {
        6
    }
    fn read(&self, _: usize) -> i32 {
        1
    }
    fn stored(&self) -> Option<&dyn Stored<Elem = i32>> {
        Some(self)
    }
}

impl Stored for Lies {
    type Elem = i32;
    fn fill(&self) -> i32 {
        0
    }
    fn count(&self) -> usize {
        self.0.len()
    }
    fn rank(&self, address: usize) -> usize {
        if address == 0 { 0 } else { self.0.len() }
    }
    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [i32]) -> usize {
        for (k, address) in addresses.iter_mut().enumerate() {
            *address = self.0[from + k];
        }
        values.fill(2);
        addresses.len()
    }
}

/// Wrong results at worst.
#[test]
fn liars_do_no_harm() {
    fn law(addresses: Vec<u8>, far: bool) -> bool {
        let far = if far { usize::MAX - 100 } else { 0 };
        let addresses: Vec<_> = addresses.iter().map(|&k| usize::from(k % 9) + far).collect();
        let a = Tensor::new([2, 3], Lies(addresses.clone())).unwrap();
        let b = Tensor::new([3, 2], Lies(addresses)).unwrap();
        let x = Tensor::full([3, 37], 1).unwrap();
        let _ = a.times_sparse(&b, PlusTimes).map(|t| t.to_vec());
        let _ = a.contract(&b, &[], PlusTimes).map(|t| t.to_vec());
        let _ = a.contract(&b, &[(0, 1)], PlusTimes).map(|t| t.to_vec());
        let product = a.times_dense(&x, PlusTimes).eval();
        product.is_err() || product.unwrap().shape() == [2, 37]
    }
    check(law as fn(Vec<u8>, bool) -> bool);
}
