//! Matrices of faer, read where they lie, and views as matrices.

use lensor::arbitrary::Viewed;
use lensor::interop::faer::faer::{Mat, MatRef};
use lensor::interop::faer::{Lines, from_mat, to_mat, view, view_mut};
use lensor::storage::conformance;
use lensor::{Error, Reader, Select, Tensor};
use quickcheck::quickcheck;

fn by_rows(m: MatRef<'_, i32>) -> Vec<i32> {
    (0..m.nrows()).flat_map(|i| (0..m.ncols()).map(move |j| m[(i, j)])).collect()
}

/// Tensors of a matrix, of its views that run backwards or turned, and of a part of it.
fn read(m: MatRef<'_, i32>) {
    let rows = m.nrows() / 2..m.nrows();
    let part = m.subrows(rows.start, rows.len());
    for m in [m, part, m.transpose(), m.reverse_rows(), m.reverse_cols().transpose()] {
        let t: Tensor<Lines<'_, i32>> = from_mat(m).unwrap();
        assert_eq!(t.shape(), [m.nrows(), m.ncols()]);
        assert_eq!(t.to_vec().unwrap(), by_rows(m));
        let turned = t.view().transpose([1, 0]).unwrap().to_vec().unwrap();
        assert_eq!(turned, by_rows(m.transpose()));
        conformance::check_reader(t.storage()).unwrap();
    }
}

quickcheck! {
    fn views_become_matrices(viewed: Viewed<i32>) -> bool {
        let (shape, data) = viewed.model();
        let mut t = viewed.tensor();
        let &[rows, columns] = &shape[..] else {
            assert!(matches!(to_mat(&t), Err(Error::ExpectedRank { expected: 2, .. })));
            assert!(matches!(view(&t), Err(Error::ExpectedRank { .. } | Error::NotStrided { .. })));
            return true;
        };
        let m = to_mat(&t).unwrap();
        assert_eq!((m.nrows(), m.ncols(), by_rows(m.as_ref())), (rows, columns, data.clone()));
        read(m.as_ref());
        match view(&t) {
            Ok(shown) => assert_eq!(by_rows(shown), data),
            Err(error) => assert!(matches!(error, Error::NotStrided { .. }), "{error}"),
        }
        let injective = t.address_map().is_injective();
        let Ok(mut shown) = view_mut(&mut t) else {
            return !injective || view(&t).is_err();
        };
        assert!(injective);
        for i in 0..rows {
            for j in 0..columns {
                shown[(i, j)] = shown[(i, j)].wrapping_mul(3);
            }
        }
        let tripled: Vec<i32> = data.iter().map(|x| x.wrapping_mul(3)).collect();
        t.to_vec().unwrap() == tripled
    }
}

/// Memory is shared, both ways; what has gaps in both directions is refused.
#[test]
fn memory_is_shared() {
    let t = Tensor::from_vec([4, 6], (0..24).collect::<Vec<i32>>()).unwrap();
    let shown = view(&t).unwrap();
    assert_eq!(shown.as_ptr(), t.storage().as_ptr());
    let part = t.view().slice(1, 1..3).unwrap();
    assert_eq!(by_rows(view(&part).unwrap()), part.to_vec().unwrap());
    let every = |step| Select::from(&[0, step][..]);
    let gaps = t.view().select((every(2), every(3))).unwrap();
    let error = view(&gaps).unwrap_err();
    assert!(
        error.to_string().ends_with("neither its rows nor its columns are without gaps"),
        "{error}"
    );
    let repeated = t.view().select((0,)).unwrap().broadcast([3, 6]).unwrap();
    assert_eq!(by_rows(view(&repeated).unwrap()), repeated.to_vec().unwrap());
    let m = Mat::from_fn(3, 2, |i, j| i * 2 + j);
    let t = from_mat(m.as_ref()).unwrap();
    let error = t.storage().try_read(6).unwrap_err();
    assert_eq!(error.to_string(), "storage failed at address 6: beyond the 6 elements");
}
