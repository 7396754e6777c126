//! Rows that are runs in memory are read where they lie, whatever their order.

use lensor::Select;
use lensor::prelude::*;
use lensor::reduce::ArgMax;

/// Folds and scans along every axis are those of a copy, bit for bit.
#[test]
fn rows_in_any_order_fold_as_those_of_a_copy() {
    let element = |index: &[usize]| (index.iter().fold(3, |k, i| k * 31 + i) as f64).sin();
    for shape in [vec![60, 70], vec![9, 40, 13], vec![40, 50, 3, 2], vec![70, 1, 65]] {
        let t = Tensor::from_index(&shape[..], element).unwrap();
        let (first, rank) = (shape[0], shape.len());
        let list: Vec<usize> = (0..first + 3).map(|k| k * k * 7 % first).collect();
        let mut shifts = vec![0; rank];
        shifts[0] = 4;
        shifts[rank - 2] = 1;
        let mut inner: Vec<Select> = vec![Select::All; rank - 2];
        inner.push(Select::List(vec![shape[rank - 2] - 1, 0, shape[rank - 2] / 3]));
        for view in [
            t.view().select((list,)).unwrap(),
            t.view().rotate(&shifts[..]).unwrap(),
            t.view().flip(0).unwrap().rotate(&shifts[..]).unwrap(),
            t.view().repeat(0, 2).unwrap(),
            t.view().select(&inner[..]).unwrap(),
            t.view().select(&inner[..]).unwrap().slice(rank - 1, 1..).unwrap(),
        ] {
            let (view, copy) = (&view, view.eval().unwrap());
            let bits = |x: lensor::Result<Vec<f64>>| {
                x.unwrap().iter().map(|x| x.to_bits()).collect::<Vec<_>>()
            };
            for axis in 0..rank {
                let shape = copy.shape();
                assert_eq!(
                    bits(view.sum(axis).to_vec()),
                    bits(copy.sum(axis).to_vec()),
                    "{shape:?}"
                );
                assert_eq!(bits(view.cumsum(axis).to_vec()), bits(copy.cumsum(axis).to_vec()));
                let found = view.rolling(axis, 1).max().to_vec();
                assert_eq!(bits(found), bits(copy.rolling(axis, 1).max().to_vec()));
                let found = view.fold(axis, ArgMax).to_vec().unwrap();
                assert_eq!(found, copy.fold(axis, ArgMax).to_vec().unwrap());
            }
            assert_eq!(bits(view.sum(..).to_vec()), bits(copy.sum(..).to_vec()));
        }
    }
}

#[test]
fn how_rows_are_read_is_said() {
    let t = Tensor::full([100, 80], 1.0).unwrap();
    let list: Vec<usize> = (0..100).map(|k| k * k % 89).collect();
    let text = t.view().select((list,)).unwrap().sum(0).explain().unwrap().to_string();
    assert!(text.contains("read where it lies"), "{text}");
}
