//! A photograph from file to contact sheet, with no copy in between.
//!
//! `cargo run --release --example photo [photo.npy [sheet.png [normalised.npy]]]`
//!
//! The photograph is an 8-bit `.npy` array [height, width] or [height, width, 1, 3 or 4]; without one,
//! the portrait in `examples/data` is taken. The file is memory-mapped. Mirroring it, rotating it,
//! exchanging channels, downsampling and tiling are views of the mapped bytes; luminance,
//! edges (a stencil of a view that repeats the border) and normalisation are one fused expression each. Every result is checked against plain loops.

mod caption;
mod check;
mod image;
mod report;
mod sheet;

use image::Paths;
use lensor::interop::npy;
use lensor::prelude::*;
use report::Report;
use std::error::Error as AnyError;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// Mean and standard deviation of the channels of ImageNet, for intensities from 0 to 1.
const MEAN: [f32; 3] = [0.485, 0.456, 0.406];
const DEVIATION: [f32; 3] = [0.229, 0.224, 0.225];
/// Weights of red, green and blue in luminance (ITU-R BT.709), here of the encoded intensities.
const WEIGHTS: [f32; 3] = [0.2126, 0.7152, 0.0722];
/// Every how many pixels the downsampled view takes one.
const COARSE: usize = 8;
/// How often the tiled view repeats a small picture along an axis.
const TILES: usize = 4;
/// How much brighter edges are shown than they are steep.
const GAIN: f32 = 5.0;

fn main() -> ExitCode {
    match run(&mut std::io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("photo: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(out: &mut impl Write) -> Result<(), Box<dyn AnyError>> {
    let paths = Paths::from_args()?;
    let mut report = Report::default();
    let file =
        report.once("map the file", || image::map(&paths.photo)).map_err(at(&paths.photo))?;
    let photo = image::rgb(&file).map_err(at(&paths.photo))?;
    let shape = photo.shape();
    writeln!(out, "{}: {:?}, seen as {shape:?}", paths.photo.display(), file.shape())?;

    // Views. No pixel is read here.
    let (height, width) = (shape[0], shape[1]);
    let mirrored = photo.clone().flip(1)?;
    let rotated = photo.clone().rotate([height as isize / 4, width as isize / 3, 0])?;
    let swapped = photo.clone().select((.., .., [2, 1, 0]))?;
    let downsampled = every(&photo, COARSE)?;
    let small = every(&photo, TILES)?;
    let (rows, columns) = (small.shape()[0], small.shape()[1]);
    let tiled = small.broadcast([rows * TILES, columns * TILES, 3])?;

    // Expressions. No pixel is computed here.
    let luminance = luminance(&photo)?;
    let normalised = normalise(&photo)?;

    // One pass each: copies of the views, and the results of the expressions.
    let pixels = check::Pixels::read(&photo)?;
    check::mirrored(&pixels, &report.eval("mirrored", 1, &mirrored.clone().lazy())?);
    check::rotated(&pixels, &report.eval("rotated", 1, &rotated.clone().lazy())?);
    check::swapped(&pixels, &report.eval("channels swapped", 1, &swapped.clone().lazy())?);
    check::downsampled(&pixels, &report.eval("downsampled", 1, &downsampled.clone().lazy())?);
    check::tiled(&pixels, &report.eval("tiled", 1, &tiled.clone().lazy())?);
    let luminance = report.eval("luminance", 3, &luminance)?;
    check::luminance(&pixels, &luminance);
    let edges = report.eval("edges", 4, &edges(&luminance)?)?;
    check::edges(&luminance, &edges);
    let normalised = report.eval("normalised", 1, &normalised)?;
    check::normalised(&pixels, &normalised);
    if paths.is_shipped {
        check::known_sums(&photo, &luminance, &edges, &normalised)?;
    }

    // The contact sheet. Its panels are views and expressions, boxed into one type.
    let panels = [
        ("as it is", photo.boxed()),
        ("mirrored", mirrored.boxed()),
        ("rotated", rotated.boxed()),
        ("channels swapped", swapped.boxed()),
        ("downsampled and enlarged", enlarged(downsampled, COARSE)?.boxed()),
        ("tiled", tiled.boxed()),
        ("luminance", luminance.insert_axis(2)?.lazy().boxed()),
        ("edges", edges.insert_axis(2)?.lazy().boxed()),
        ("normalised and made visible", displayable(&normalised)?.boxed()),
    ];
    let sheet = report.once("assemble the sheet", || sheet::assemble(&panels, [height, width]))?;
    let written = report.once("write the PNG", || sheet::write_png(&paths.sheet, &sheet));
    written.map_err(at(&paths.sheet))?;
    let written = report.once("write the .npy", || npy::save(&paths.normalised, &normalised));
    written.map_err(at(&paths.normalised))?;
    check::files(&paths.sheet, &sheet, &paths.normalised, &normalised)?;

    writeln!(out, "\n{report}")?;
    writeln!(out, "contact sheet {:?}: {}", sheet.shape(), paths.sheet.display())?;
    writeln!(out, "normalised {:?}: {}", normalised.shape(), paths.normalised.display())?;
    writeln!(out, "every result equals that of plain loops")?;
    Ok(())
}

/// Puts a path before an error.
fn at<E: Display>(path: &Path) -> impl Fn(E) -> String {
    move |error| format!("{}: {error}", path.display())
}

/// Every `step`-th row and column.
fn every<S: Reader + Clone>(photo: &Tensor<S>, step: usize) -> Result<Tensor<S>, Error> {
    photo.clone().select((Select::every(step), Select::every(step)))
}

/// Every pixel as a square of `side` times `side`.
fn enlarged<S: Reader>(photo: Tensor<S>, side: usize) -> Result<Tensor<S>, Error> {
    let (rows, columns) = (photo.shape()[0], photo.shape()[1]);
    let squares = photo.reshape([rows, 1, columns, 1, 3])?;
    squares.broadcast([rows, side, columns, side, 3])?.reshape([rows * side, columns * side, 3])
}

/// Brightness of every pixel, [height, width].
fn luminance<S>(photo: &Tensor<S>) -> Result<Lazy<impl Expr<Elem = u8> + use<S>>, Error>
where
    S: Reader<Elem = u8> + Clone,
{
    let part = |channel: usize| {
        let plane = photo.clone().select((.., .., channel))?.lazy();
        Ok::<_, Error>(plane.cast::<f32>() * WEIGHTS[channel])
    };
    Ok((part(0)? + part(1)? + part(2)?).round().cast::<u8>())
}

/// How steep brightness is at every pixel, [height, width]: the length of its gradient, by differences of
/// neighbours in a view that shows the pixels of the border twice.
fn edges(luminance: &Tensor<Vec<u8>>) -> Result<Lazy<impl Expr<Elem = u8>>, Error> {
    let bordered = |extent: usize| {
        (0..extent + 2).map(|k| k.saturating_sub(1).min(extent - 1)).collect::<Vec<_>>()
    };
    let shape = luminance.shape();
    let wide = luminance.view().select((bordered(shape[0]), bordered(shape[1])))?;
    let neighbours = [[-1, 0], [1, 0], [0, -1], [0, 1]];
    Ok(wide.lazy().stencil(neighbours, |[above, below, left, right]| {
        let slope = |a: u8, b: u8| (f32::from(b) - f32::from(a)) / 2.0;
        let (down, across) = (slope(above, below), slope(left, right));
        (GAIN * (down * down + across * across).sqrt()).round() as u8
    }))
}

/// Intensities as a neural network takes them: [3, height, width], mean 0 and deviation 1.
fn normalise<S>(photo: &Tensor<S>) -> Result<Lazy<impl Expr<Elem = f32> + use<S>>, Error>
where
    S: Reader<Elem = u8> + Clone,
{
    let planes = photo.clone().transpose([2, 0, 1])?.lazy().cast::<f32>();
    let (mean, deviation) = (Tensor::new([3, 1, 1], MEAN)?, Tensor::new([3, 1, 1], DEVIATION)?);
    Ok((planes / 255.0 - mean) / deviation)
}

/// Normalised intensities as 8-bit pixels, [height, width, 3]. They lie between -2.2 and 2.7.
fn displayable(normalised: &Tensor<Vec<f32>>) -> Result<Lazy<impl Expr<Elem = u8>>, Error> {
    let pixels = normalised.view().transpose([1, 2, 0])?;
    Ok(((pixels + 2.2) * (255.0 / 4.9)).round().cast::<u8>())
}
