//! Functions of stored entries at their edges.

use lensor::expr::zip_stored;
use lensor::prelude::*;
use lensor::storage::Duplicates;

/// Without elements there is a fill value, and whatever is made of it.
#[test]
fn functions_of_nothing_are_operands() {
    for (shape, joint) in [([0, 3], [0, 3]), ([1, 3], [0, 3]), ([0, 1], [0, 3])] {
        let a = Tensor::sparse(shape, 2.0).unwrap();
        let z = zip_stored((&a, &a), 5.0, |(x, y)| x * y);
        let b = Tensor::sparse(joint, 1.0).unwrap();
        let sum = (&z + &b).eval_sparse().unwrap();
        assert_eq!((sum.shape(), sum.storage().fill()), (joint.into(), 6.0));
        assert!((&z + &b).try_equal(&z + &b).unwrap());
        let mut out = Tensor::sparse(joint, 0.0).unwrap();
        out.assign(&z).unwrap();
        assert_eq!(out.storage().stored_len(), 0);
        assert_eq!((&z + &b).sum(0).to_vec().unwrap(), [0.0; 3]);
    }
}

/// Operands that do not decide are looked at where others have entries, however often their own would repeat.
#[test]
fn entries_of_others_are_not_repeated() {
    let (rows, columns) = (1_usize << 40, 100);
    let at = [[3, 0], [7, 99], [rows - 1, 50]];
    let x = Tensor::from_coordinates([rows, columns], 0, &at, vec![1, 2, 3], Duplicates::Refuse);
    let x = x.unwrap();
    let dense = Tensor::from_index([columns], |i| i[0] as i64).unwrap();
    let row = dense.map(|x| x + 1).to_sparse(0).unwrap();
    let expected = [0, 2 * 99 * 100, 3 * 50 * 51];
    let terms = zip_stored((&x, &dense * &row), 0, |(x, y)| x * y);
    assert_eq!(terms.eval_sparse().unwrap().storage().values(), expected);
    assert_eq!((&terms).sum(..).item().unwrap(), expected.iter().sum::<i64>());
    let terms = zip_stored((&x, row.densely(), &dense), 0, |(x, y, z)| x * y * z);
    assert_eq!(terms.eval_sparse().unwrap().storage().values(), expected);
}
