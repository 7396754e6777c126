//! The contact sheet: panels side by side on a grey ground with captions under them, each assigned to a view
//! of the sheet.

use crate::caption;
use lensor::prelude::*;
use std::error::Error as AnyError;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

const COLUMNS: usize = 3;
/// Longest side of a panel; larger photos are shown by every so many pixels.
const PANEL: usize = 512;
const MARGIN: usize = 32;
/// From the lower side of a panel to its caption.
const GAP: usize = 12;
const GROUND: [u8; 3] = [38, 40, 43];
const INK: [u8; 3] = [205, 208, 212];

/// Panels of `photo` pixels, at least, and their captions, in rows of three.
///
/// A panel has shape [height, width, 3], or 1 for 3 if it is grey; what exceeds `photo` is cut off.
pub(crate) fn assemble(
    panels: &[(&str, BoxExpr<'_, u8>)],
    photo: [usize; 2],
) -> Result<Tensor<Vec<u8>>, Error> {
    let step = std::cmp::max(photo[0], photo[1]).div_ceil(PANEL);
    let [height, width] = photo.map(|extent| extent.div_ceil(step));
    let rows = panels.len().div_ceil(COLUMNS);
    let along = |count: usize, extent: usize| count * (extent + MARGIN) + MARGIN;
    let tall = height + GAP + caption::HEIGHT;
    let (ground, ink) = (Tensor::new([3], GROUND)?, Tensor::new([3], INK)?);

    let mut sheet = Tensor::full([along(rows, tall), along(COLUMNS, width), 3], 0)?;
    sheet.assign(&ground)?;
    for (k, (name, panel)) in panels.iter().enumerate() {
        let (top, left) = (along(k / COLUMNS, tall), along(k % COLUMNS, width));
        let place = (top..top + height, left..left + width);
        let taken = |extent: usize| Select::stepped(0, extent as isize, step as isize);
        let shown = panel.clone().select((taken(photo[0]), taken(photo[1])))?;
        sheet.view_mut().select(place)?.assign(shown)?;

        let (dots, below) = (caption::dots(name)?, top + height + GAP);
        let columns = dots.shape()[1].min(width);
        let inked = dots.slice(1, 0..columns)?.insert_axis(2)?;
        let place = (below..below + caption::HEIGHT, left..left + columns);
        sheet.view_mut().select(place)?.assign(choose(inked, &ink, &ground))?;
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
