//! Lists of indexes, masks and sums of products.

use super::{FEW as COUNT, FEW_SIDE as SIDE, every_shortage};
use lensor::indexing::Indexing;
use lensor::linalg::einsum;
use lensor::prelude::*;
use lensor::reduce::Max;

pub(crate) fn lists() {
    let t = Tensor::from_vec([SIDE, SIDE], (0..COUNT as u64).collect()).unwrap();
    let at = Tensor::from_vec([COUNT, 2], (0..2 * COUNT).map(|k| k * 7 % SIDE).collect()).unwrap();
    every_shortage("nonzero", 1, || t.nonzero()?.to_vec());
    every_shortage("extract", 1, || t.extract(t.greater(7))?.to_vec());
    every_shortage("extract of an expression", 1, || (&t + 1).extract(t.greater(7))?.to_vec());
    every_shortage("take_at", 1, || t.take_at(&at).to_vec());
    every_shortage("take_at of an expression", 1, || (&t + 1).take_at(&at + 0).to_vec());
    let rows = Tensor::from_vec([SIDE], (0..SIDE).rev().collect()).unwrap();
    every_shortage("put_at", 1, || {
        let mut out = t.eval()?;
        out.put_at((&rows.view().reshape([SIDE, 1])?, &rows), 7)?;
        Ok(out.into_storage())
    });
    every_shortage("fold_at", 1, || {
        let mut out = t.eval()?;
        out.fold_at(&at, 7, Max)?;
        Ok(out.into_storage())
    });
    let mask: Vec<bool> = (0..COUNT).map(|k| k % 3 != 1).collect();
    let line = t.view().reshape([COUNT]).unwrap();
    let counts: Vec<usize> = (0..COUNT).map(|k| k % 3).collect();
    every_shortage("compress", 1, || line.clone().compress(0, &mask)?.to_vec());
    every_shortage("repeat", 1, || line.clone().repeat(0, &counts)?.to_vec());
    every_shortage("einsum", 1, || {
        einsum("ij,jk,k->ki", (&t, &t, t.view().select((0,))?)).to_vec()
    });
}
