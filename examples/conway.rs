//! Conway's game of life on a torus. Eight rotations of the board are its neighbours, and the whole
//! rule is one fused expression. Runs 999 generations and checks them against plain loops.

use lensor::prelude::*;

const SIDE: usize = 128;
const GENERATIONS: usize = 999;

type Board = Tensor<Vec<u8>>;

/// Computes the generation after `board` into `next`.
fn advance(board: &Board, next: &mut Board) -> Result<(), Error> {
    let moved = |down, right| board.view().rotate([down, right]);
    let neighbours = (moved(-1, -1)? + moved(-1, 0)? + moved(-1, 1)?)
        + (moved(0, -1)? + moved(0, 1)?)
        + (moved(1, -1)? + moved(1, 0)? + moved(1, 1)?);
    // A cell lives with three neighbours, or with two if it lived: 3 | 0, 3 | 1 and 2 | 1 are 3.
    (neighbours | board).equal(3).cast().assign_to(next)
}

/// The same in loops over cells.
fn advance_plainly(board: &[u8], next: &mut [u8]) {
    for row in 0..SIDE {
        for column in 0..SIDE {
            let mut neighbours = 0;
            for down in [SIDE - 1, 0, 1] {
                for right in [SIDE - 1, 0, 1] {
                    if (down, right) != (0, 0) {
                        neighbours += board[(row + down) % SIDE * SIDE + (column + right) % SIDE];
                    }
                }
            }
            let cell = row * SIDE + column;
            next[cell] = u8::from(neighbours == 3 || neighbours == 2 && board[cell] == 1);
        }
    }
}

fn main() -> Result<(), Error> {
    let r_pentomino = Tensor::from_nested([[0_u8, 1, 1], [1, 1, 0], [0, 1, 0]])?;
    let mut board = Tensor::full([SIDE, SIDE], 0)?;
    board.view_mut().select((63..66, 63..66))?.assign(r_pentomino)?;
    let mut next = board.clone();

    let mut plain = board.to_vec()?;
    let mut plain_next = plain.clone();

    for generation in 1..=GENERATIONS {
        advance(&board, &mut next)?;
        std::mem::swap(&mut board, &mut next);
        advance_plainly(&plain, &mut plain_next);
        std::mem::swap(&mut plain, &mut plain_next);
        assert_eq!(board.storage(), &plain, "generation {generation}");
    }

    let alive: u32 = plain.iter().map(|&cell| u32::from(cell)).sum();
    assert_eq!(alive, 149);
    Ok(())
}
