//! Captions: letters of five by seven dots, enlarged by a view.

use lensor::prelude::*;

/// Rows and columns of a letter with the gap behind it.
const CELL: [usize; 2] = [7, 6];
/// Pixels along the side of a dot.
const DOT: usize = 2;
/// Height of a line of text, in pixels.
pub(crate) const HEIGHT: usize = CELL[0] * DOT;

/// Dots of capital letters, row by row; the highest of five bits is on the left.
#[rustfmt::skip]
const LETTERS: [[u8; 7]; 26] = [
    [0b01110, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001],
    [0b11110, 0b10001, 0b10001, 0b11110, 0b10001, 0b10001, 0b11110],
    [0b01110, 0b10001, 0b10000, 0b10000, 0b10000, 0b10001, 0b01110],
    [0b11110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b11110],
    [0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b11111],
    [0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b10000],
    [0b01110, 0b10001, 0b10000, 0b10111, 0b10001, 0b10001, 0b01110],
    [0b10001, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001],
    [0b01110, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
    [0b00111, 0b00010, 0b00010, 0b00010, 0b00010, 0b10010, 0b01100],
    [0b10001, 0b10010, 0b10100, 0b11000, 0b10100, 0b10010, 0b10001],
    [0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b11111],
    [0b10001, 0b11011, 0b10101, 0b10101, 0b10001, 0b10001, 0b10001],
    [0b10001, 0b11001, 0b10101, 0b10011, 0b10001, 0b10001, 0b10001],
    [0b01110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110],
    [0b11110, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000, 0b10000],
    [0b01110, 0b10001, 0b10001, 0b10001, 0b10101, 0b10010, 0b01101],
    [0b11110, 0b10001, 0b10001, 0b11110, 0b10100, 0b10010, 0b10001],
    [0b01111, 0b10000, 0b10000, 0b01110, 0b00001, 0b00001, 0b11110],
    [0b11111, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100],
    [0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110],
    [0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01010, 0b00100],
    [0b10001, 0b10001, 0b10001, 0b10101, 0b10101, 0b11011, 0b10001],
    [0b10001, 0b10001, 0b01010, 0b00100, 0b01010, 0b10001, 0b10001],
    [0b10001, 0b10001, 0b01010, 0b00100, 0b00100, 0b00100, 0b00100],
    [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b10000, 0b11111],
];

/// Where the ink of a text is, [`HEIGHT`] pixels high. What is no letter leaves a gap.
pub(crate) fn dots(text: &str) -> Result<Tensor<impl lensor::Reader<Elem = bool> + Clone>, Error> {
    let [rows, cell] = CELL;
    let bytes = text.as_bytes();
    let columns = cell * bytes.len();
    let dots = Tensor::from_index([rows, columns], |index| {
        let number = bytes[index[1] / cell].to_ascii_uppercase().wrapping_sub(b'A');
        let letter = LETTERS.get(usize::from(number)).map_or(0, |rows| rows[index[0]]);
        letter << (index[1] % cell) & 0b10000 != 0
    })?;
    let squares = dots.reshape([rows, 1, columns, 1])?.broadcast([rows, DOT, columns, DOT])?;
    squares.reshape([HEIGHT, columns * DOT])
}
