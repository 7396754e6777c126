//! The contact sheet: panels side by side on a grey ground, each assigned to a view of the sheet.

use lensor::prelude::*;
use std::error::Error as AnyError;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

const COLUMNS: usize = 4;
/// Longest side of a panel; larger photos are shown by every so many pixels.
const PANEL: usize = 512;
const MARGIN: usize = 32;
const GROUND: [u8; 3] = [38, 40, 43];

/// Panels of `photo` pixels, at least, in rows of four.
///
/// A panel has shape [height, width, 3], or 1 for 3 if it is grey; what exceeds `photo` is cut off.
pub(crate) fn assemble(
    panels: &[BoxExpr<'_, u8>],
    photo: [usize; 2],
) -> Result<Tensor<Vec<u8>>, Error> {
    let step = std::cmp::max(photo[0], photo[1]).div_ceil(PANEL);
    let [height, width] = photo.map(|extent| extent.div_ceil(step));
    let rows = panels.len().div_ceil(COLUMNS);
    let along = |count: usize, extent: usize| count * (extent + MARGIN) + MARGIN;

    let mut sheet = Tensor::full([along(rows, height), along(COLUMNS, width), 3], 0)?;
    sheet.assign(Tensor::new([3], GROUND)?)?;
    for (k, panel) in panels.iter().enumerate() {
        let (top, left) = (along(k / COLUMNS, height), along(k % COLUMNS, width));
        let place = (top..top + height, left..left + width);
        let taken = |extent: usize| Select::stepped(0, extent as isize, step as isize);
        let shown = panel.clone().select((taken(photo[0]), taken(photo[1])))?;
        sheet.view_mut().select(place)?.assign(shown)?;
    }
    Ok(sheet)
}

pub(crate) fn write_png(path: &Path, sheet: &Tensor<Vec<u8>>) -> Result<(), Box<dyn AnyError>> {
    let shape = sheet.shape();
    let mut sink = BufWriter::new(File::create(path)?);
    let mut encoder = png::Encoder::new(&mut sink, shape[1].try_into()?, shape[0].try_into()?);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(sheet.storage())?;
    writer.finish()?;
    sink.flush()?;
    Ok(())
}
