//! Conway's game of life on a torus of which only living cells are stored. Rotations of a sparse board are
//! sparse, and so is the whole rule, one expression of nine of them. Runs 999 generations beside the dense
//! board, by the same rule.

use lensor::prelude::*;
use lensor::storage::Sparse;

const SIDE: usize = 128;
const GENERATIONS: usize = 999;

/// The generation after `board`, of any storage.
fn next<S: Reader<Elem = u8>>(board: &Tensor<S>) -> Result<Lazy<impl Expr<Elem = u8>>, Error> {
    let moved = |down, right| board.view().rotate([down, right]);
    let neighbours = (moved(-1, -1)? + moved(-1, 0)? + moved(-1, 1)?)
        + (moved(0, -1)? + moved(0, 1)?)
        + (moved(1, -1)? + moved(1, 0)? + moved(1, 1)?);
    // A cell lives with three neighbours, or with two if it lived: 3 | 0, 3 | 1 and 2 | 1 are 3.
    Ok((neighbours | board).equal(3).cast())
}

/// The same of a sparse board: cells around living ones are computed, those that die are dropped.
fn next_sparse(board: &Tensor<Sparse<u8>>) -> Result<Tensor<Sparse<u8>>, Error> {
    let mut cells = next(board)?.eval_sparse()?.into_storage();
    cells.prune();
    Tensor::new([SIDE, SIDE], cells)
}

fn main() -> Result<(), Error> {
    let r_pentomino = Tensor::from_nested([[0_u8, 1, 1], [1, 1, 0], [0, 1, 0]])?;
    let mut dense = Tensor::full([SIDE, SIDE], 0)?;
    dense.view_mut().select((63..66, 63..66))?.assign(&r_pentomino)?;
    let mut sparse = Tensor::sparse([SIDE, SIDE], 0)?;
    sparse.view_mut().select((63..66, 63..66))?.assign(&r_pentomino)?;
    assert_eq!(sparse.storage().stored_len(), 5);

    let mut most = 0;
    for generation in 1..=GENERATIONS {
        let grown = next(&dense)?.eval()?;
        (dense, sparse) = (grown, next_sparse(&sparse)?);
        assert_eq!(sparse, dense, "generation {generation}");
        most = most.max(sparse.storage().stored_len());
    }

    // A cell on the torus is a cell alive: nothing else was ever stored.
    assert_eq!(sparse.storage().stored_len(), 149);
    assert!(sparse.storage().values().iter().all(|&cell| cell == 1));
    assert!(most < SIDE * SIDE / 32, "{most} of {} cells at most", SIDE * SIDE);
    Ok(())
}
