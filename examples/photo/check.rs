//! Every result once more, by plain loops.

use crate::{COARSE, DEVIATION, GAIN, MEAN, TILES, WEIGHTS};
use lensor::interop::npy;
use lensor::prelude::*;
use std::error::Error as AnyError;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// The photo in plain memory.
pub(crate) struct Pixels {
    height: usize,
    width: usize,
    data: Vec<[u8; 3]>,
}

impl Pixels {
    /// Reads one element after the other.
    pub(crate) fn read<S: Reader<Elem = u8>>(photo: &Tensor<S>) -> Result<Self, Error> {
        let (height, width) = (photo.shape()[0], photo.shape()[1]);
        let mut data = Vec::new();
        for row in 0..height {
            for column in 0..width {
                let channel = |channel| photo.get([row, column, channel]);
                data.push([channel(0)?, channel(1)?, channel(2)?]);
            }
        }
        Ok(Self { height, width, data })
    }

    fn at(&self, row: usize, column: usize) -> [u8; 3] {
        self.data[row * self.width + column]
    }

    /// Holds an image of rows and columns against what `expected` gives for them.
    fn compare(
        &self,
        found: &Tensor<Vec<u8>>,
        [height, width]: [usize; 2],
        expected: impl Fn(usize, usize) -> [u8; 3],
    ) {
        assert_eq!(found.shape(), [height, width, 3]);
        let mut found = found.storage().chunks_exact(3);
        for row in 0..height {
            for column in 0..width {
                let expected = expected(row, column);
                assert_eq!(found.next(), Some(&expected[..]), "row {row}, column {column}");
            }
        }
    }
}

pub(crate) fn mirrored(photo: &Pixels, found: &Tensor<Vec<u8>>) {
    let Pixels { height, width, .. } = *photo;
    photo.compare(found, [height, width], |row, column| photo.at(row, width - 1 - column));
}

pub(crate) fn rotated(photo: &Pixels, found: &Tensor<Vec<u8>>) {
    let Pixels { height, width, .. } = *photo;
    let (down, right) = (height / 4, width / 3);
    photo.compare(found, [height, width], |row, column| {
        photo.at((row + height - down) % height, (column + width - right) % width)
    });
}

pub(crate) fn swapped(photo: &Pixels, found: &Tensor<Vec<u8>>) {
    photo.compare(found, [photo.height, photo.width], |row, column| {
        let [red, green, blue] = photo.at(row, column);
        [blue, green, red]
    });
}

pub(crate) fn downsampled(photo: &Pixels, found: &Tensor<Vec<u8>>) {
    let step = COARSE;
    let extents = [photo.height.div_ceil(step), photo.width.div_ceil(step)];
    photo.compare(found, extents, |row, column| photo.at(row * step, column * step));
}

pub(crate) fn tiled(photo: &Pixels, found: &Tensor<Vec<u8>>) {
    let [rows, columns] = [photo.height.div_ceil(TILES), photo.width.div_ceil(TILES)];
    photo.compare(found, [rows * TILES, columns * TILES], |row, column| {
        photo.at(row % rows * TILES, column % columns * TILES)
    });
}

pub(crate) fn luminance(photo: &Pixels, found: &Tensor<Vec<u8>>) {
    assert_eq!(found.shape(), [photo.height, photo.width]);
    for (found, pixel) in found.storage().iter().zip(&photo.data) {
        let [red, green, blue] = [0, 1, 2].map(|k| f32::from(pixel[k]) * WEIGHTS[k]);
        assert_eq!(*found, (red + green + blue).round() as u8);
    }
}

pub(crate) fn edges(luminance: &Tensor<Vec<u8>>, found: &Tensor<Vec<u8>>) {
    let [height, width] = [luminance.shape()[0], luminance.shape()[1]];
    assert_eq!(found.shape(), [height, width]);
    let at = |row: usize, column: usize| f32::from(luminance.storage()[row * width + column]);
    for row in 0..height {
        for column in 0..width {
            let (above, below) = (row.max(1) - 1, (row + 1).min(height - 1));
            let (left, right) = (column.max(1) - 1, (column + 1).min(width - 1));
            let down = (at(below, column) - at(above, column)) / 2.0;
            let across = (at(row, right) - at(row, left)) / 2.0;
            let expected = (GAIN * (down * down + across * across).sqrt()).round().min(255.0);
            assert_eq!(f32::from(found.storage()[row * width + column]), expected);
        }
    }
}

pub(crate) fn normalised(photo: &Pixels, found: &Tensor<Vec<f32>>) {
    assert_eq!(found.shape(), [3, photo.height, photo.width]);
    let mut found = found.storage().iter();
    for channel in 0..3 {
        for pixel in &photo.data {
            let intensity = f32::from(pixel[channel]) / 255.0;
            let expected = (intensity - MEAN[channel]) / DEVIATION[channel];
            assert_eq!(found.next(), Some(&expected));
        }
    }
}

/// Sums for the photo that comes with the library, computed once in Python.
pub(crate) fn known_sums<S: Reader<Elem = u8>>(
    photo: &Tensor<S>,
    luminance: &Tensor<Vec<u8>>,
    edges: &Tensor<Vec<u8>>,
    normalised: &Tensor<Vec<f32>>,
) -> Result<(), Error> {
    let sum = |bytes: &[u8]| bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
    for (channel, expected) in [37_109_758, 27_724_204, 25_290_362].into_iter().enumerate() {
        let plane = photo.view().select((.., .., channel))?.to_vec()?;
        assert_eq!(sum(&plane), expected, "channel {channel}");
    }
    assert_eq!(sum(luminance.storage()), 29_541_307);
    assert_eq!(sum(edges.storage()), 10_475_624);
    for (plane, expected) in normalised.outer_iter()?.zip([80_299.66, -48_282.57, -32_233.66]) {
        let sum: f64 = plane.to_vec()?.into_iter().map(f64::from).sum();
        assert!((sum - expected).abs() < 0.05, "a plane sums to {sum}, expected {expected}");
    }
    Ok(())
}

/// Reads the written files back.
pub(crate) fn files(
    sheet_path: &Path,
    sheet: &Tensor<Vec<u8>>,
    normalised_path: &Path,
    normalised: &Tensor<Vec<f32>>,
) -> Result<(), Box<dyn AnyError>> {
    let mut png = png::Decoder::new(BufReader::new(File::open(sheet_path)?)).read_info()?;
    let mut pixels = vec![0; sheet.len()];
    let info = png.next_frame(&mut pixels)?;
    assert_eq!([info.height as usize, info.width as usize, 3], *sheet.shape());
    assert_eq!(&pixels, sheet.storage());
    assert_eq!(npy::open::<f32>(normalised_path)?, *normalised);
    Ok(())
}
