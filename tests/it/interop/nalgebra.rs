//! Matrices of nalgebra as tensors, and views as matrices.

use lensor::arbitrary::Viewed;
use lensor::interop::nalgebra::nalgebra::{DMatrix, Matrix3x2};
use lensor::interop::nalgebra::{from_matrix, from_view, into_matrix, to_matrix, view, view_mut};
use lensor::{Error, Tensor};
use quickcheck::quickcheck;

fn by_rows(m: &DMatrix<i32>) -> Vec<i32> {
    m.transpose().as_slice().to_vec()
}

quickcheck! {
    fn views_become_matrices(viewed: Viewed<i32>) -> bool {
        let (shape, data) = viewed.model();
        let mut t = viewed.tensor();
        let &[rows, columns] = &shape[..] else {
            assert!(matches!(to_matrix(&t), Err(Error::ExpectedRank { expected: 2, .. })));
            assert!(matches!(view(&t), Err(Error::ExpectedRank { .. } | Error::NotStrided { .. })));
            assert!(matches!(into_matrix(t), Err(Error::ExpectedRank { .. })));
            return true;
        };
        let m = to_matrix(&t).unwrap();
        assert_eq!((m.nrows(), m.ncols(), by_rows(&m)), (rows, columns, data.clone()));
        match view(&t) {
            Ok(shown) => assert_eq!(shown, m),
            Err(error) => assert!(matches!(error, Error::NotStrided { .. }), "{error}"),
        }
        let injective = t.address_map().is_injective();
        match view_mut(&mut t) {
            Ok(mut shown) => {
                shown.iter_mut().for_each(|x| *x = x.wrapping_mul(3));
                assert_eq!(t.to_vec().unwrap(), data.iter().map(|x| x.wrapping_mul(3)).collect::<Vec<_>>());
            }
            Err(error) => assert!(matches!(error, Error::NotStrided { .. }) || !injective, "{error}"),
        }
        let back = from_matrix(m.clone()).unwrap();
        assert_eq!((back.shape(), back.to_vec().unwrap()), (shape, data));
        let first = back.storage().as_ptr();
        let again = into_matrix(back).unwrap();
        assert!(again.is_empty() || again.as_ptr() == first);
        again == m && from_view(&m).unwrap().to_vec().unwrap() == by_rows(&m)
    }
}

#[test]
fn what_cannot_be_shared_says_why() {
    let t = Tensor::from_vec([2, 3], vec![1, 2, 3, 4, 5, 6]).unwrap();
    let error = into_matrix(t.clone()).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("its columns do not lie one after another, which `to_matrix` does"),
        "{error}"
    );
    let m = Matrix3x2::new(1, 2, 3, 4, 5, 6);
    let t = from_view(&m).unwrap();
    assert_eq!(t.storage().as_ptr(), m.as_ptr());
    assert_eq!(t.to_vec().unwrap(), [1, 2, 3, 4, 5, 6]);
}
