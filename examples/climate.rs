//! Sea surface temperature off Peru, month by month from 1950 to 2010: how the region warmed, and when
//! El Niño came. Everything is an expression over the mapped file; see `data/README.md` for its source.
//!
//! `cargo run --release --example climate [map.png]` prints a table and writes a map of all months.

use lensor::generate::{linspace, range};
use lensor::interop::npy;
use lensor::lanes::Interpolation;
use lensor::prelude::*;
use lensor::rolling::WindowEdge;
use lensor::stencil::EdgeOrder;
use std::error::Error as AnyError;
use std::path::Path;

const FIRST_YEAR: usize = 1950;
const YEARS: usize = 61;
const MONTHS: usize = 12;
/// Rows and columns of pixels of a month on the map; as many rows lie between its two parts.
const CELL: [usize; 2] = [14, 12];

#[allow(unsafe_code, reason = "maps a file")]
fn main() -> Result<(), Box<dyn AnyError>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/nino12.npy");
    // SAFETY: the file comes with the library and nobody changes it while the program runs.
    let temperature = unsafe { npy::map::<f64>(path) }?;
    assert_eq!(temperature.shape(), [YEARS, MONTHS]);

    let of_month = temperature.view().mean(0).eval()?;
    let anomaly = temperature.view() - &of_month;
    let of_year = anomaly.view().mean(1).eval()?;
    let time_line = anomaly.clone().reshape([YEARS * MONTHS])?;
    let season = time_line.view().rolling(0, 5).mean().eval()?;

    // Decades are rows of 120 months.
    let decades = anomaly.clone().slice(0, 0..60)?.reshape([6, 10 * MONTHS])?;
    let quantiles = decades.quantiles(1, &[0.1, 0.5, 0.9], Interpolation::Linear).eval()?;
    println!("anomaly in °C, quantiles of months    10 %    50 %    90 %");
    for (year, row) in range(FIRST_YEAR, 2010, 10)?.to_vec()?.into_iter().zip(0..) {
        let [low, middle, high] = [0, 1, 2].map(|k| quantiles.get([row, k]));
        println!("{year}s {:>32.2} {:>7.2} {:>7.2}", low?, middle?, high?);
    }

    // Years counted from the middle one have the mean 0, so the least squares line is a quotient.
    let years = linspace(-30.0, 30.0, YEARS)?;
    let slope = years.view().matmul(&of_year).item()? / years.view().matmul(&years).item()?;
    println!("trend: {:+.3} °C a decade", 10.0 * slope);

    // A window of five months is centred two after it begins.
    let warmest = season.argmax(..).item()? + 2;
    let (year, month) = (FIRST_YEAR + warmest / MONTHS, warmest % MONTHS + 1);
    let peak = season.max(..).item()?;
    println!("warmest five months: {peak:+.2} °C around {year}-{month:02}");

    // Across a year and along the months; inside, where neighbours stand on both sides.
    let gradient = anomaly.view().gradient([1.0, 1.0], EdgeOrder::First).eval()?;
    let steepness = (&gradient * &gradient).sum(2).eval()?.lazy().sqrt().slice(0, 1..YEARS - 1)?;
    let steepest = steepness.argmax(..).item()? + MONTHS;
    println!("steepest change: {}-{:02}", FIRST_YEAR + steepest / MONTHS, steepest % MONTHS + 1);

    let annual = time_line.rolling(0, MONTHS).centred().edge(WindowEdge::Cut).mean().eval()?;
    let annual = annual.reshape([YEARS, MONTHS])?;
    let map = map_of(&[anomaly.clone().boxed(), annual.view().boxed()])?;
    let default = std::env::temp_dir().join("lensor-climate.png");
    write_png(&std::env::args_os().nth(1).map_or(default, Into::into), &map)?;

    // What NumPy computes, and what the books say: the strongest El Niño of these years was that of 1997.
    assert!((of_month.get([0])? - 24.392_131_147_540_98).abs() < 1e-12);
    assert!((10.0 * slope - 0.134_907_897_056_231_2).abs() < 1e-12);
    assert_eq!((year, month), (1997, 10));
    assert!((peak - 4.140_819_672_131_145).abs() < 1e-12);
    assert!((quantiles.get([3, 2])? - 1.689_737_704_918_032).abs() < 1e-12);
    assert_eq!(map.shape(), [2 * (MONTHS * CELL[0]) + CELL[0], YEARS * CELL[1], 3]);
    Ok(())
}

/// Months from top to bottom, years from left to right; blue is colder than usual, red warmer.
fn map_of(panels: &[BoxExpr<'_, f64>]) -> Result<Tensor<Vec<u8>>, Error> {
    let [height, width] = [MONTHS * CELL[0], YEARS * CELL[1]];
    let mut map = Tensor::full([panels.len() * (height + CELL[0]) - CELL[0], width, 3], 40_u8)?;
    let channel = Tensor::from(vec![-1.0, 0.0, 1.0]);
    for (k, panel) in panels.iter().enumerate() {
        let heat = (panel / 3.0).clamp(-1.0, 1.0).transpose([1, 0])?.insert_axis(2)?;
        let colour = zip_with((heat, &channel), |(heat, channel): (f64, f64)| {
            let faded = if channel == 0.0 { heat.abs() } else { (heat * channel).max(0.0) };
            255.0 * (1.0 - faded)
        });
        // Every month becomes a cell of pixels by repetition alone.
        let cells = colour.cast::<u8>().insert_axis(2)?.insert_axis(1)?;
        let pixels = cells.broadcast([MONTHS, CELL[0], YEARS, CELL[1], 3])?;
        let top = k * (height + CELL[0]);
        map.view_mut().slice(0, top..top + height)?.assign(pixels.reshape([height, width, 3])?)?;
    }
    Ok(map)
}

fn write_png<S: Reader<Elem = u8>>(path: &Path, map: &Tensor<S>) -> Result<(), Box<dyn AnyError>> {
    let shape = map.shape();
    let file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut encoder = png::Encoder::new(file, shape[1].try_into()?, shape[0].try_into()?);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&map.to_vec()?)?;
    writer.finish()?;
    Ok(())
}
