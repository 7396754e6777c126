//! Collisions with a varying number of jets: the invariant mass of the two hardest of each, from rows of any length.
//!
//! Half of the events are decays of a particle of mass 91.2 into two jets, with softer jets besides; the others are jets
//! alone. They are generated from a stated seed. The mass is found by views and expressions of ragged tensors, without a
//! loop over events, and held against plain loops; a histogram shows the particle above the rest.
//!
//! `cargo run --release --example events [histogram.png]` prints a table and writes the histogram.

use lensor::lanes::Edges;
use lensor::prelude::*;
use lensor::ragged::{Offsets, Ragged};
use std::error::Error as AnyError;
use std::f64::consts::PI;

const EVENTS: usize = 100_000;
const SEED: u64 = 20_261_123;
/// Mass of the particle, and half the width of its line.
const MASS: f64 = 91.2;
const WIDTH: f64 = 2.5;
/// Jets below this momentum are not looked at.
const LEAST: f64 = 20.0;
/// Bins of the histogram, and pixels of each.
const BINS: usize = 80;
const PIXELS: [usize; 2] = [240, 6];

/// Numbers from 0 to 1, the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Momentum across the beam, pseudorapidity and angle around the beam of all jets, and how many each event has.
struct Jets {
    momenta: Vec<f64>,
    rapidities: Vec<f64>,
    angles: Vec<f64>,
    counts: Vec<usize>,
}

fn generate() -> Jets {
    let mut random = Random(SEED);
    let mut all = Jets {
        momenta: Vec::new(),
        rapidities: Vec::new(),
        angles: Vec::new(),
        counts: Vec::new(),
    };
    for _ in 0..EVENTS {
        let before = all.momenta.len();
        let mut put = |momentum: f64, rapidity: f64, angle: f64| {
            all.momenta.push(momentum);
            all.rapidities.push(rapidity);
            all.angles.push(angle.rem_euclid(2.0 * PI));
        };
        if random.next() < 0.5 {
            // Two jets of one momentum, back to back: the mass follows from it and from their rapidities.
            let mass = MASS + WIDTH * (PI * (0.9 * random.next() - 0.45)).tan() / 2.0;
            let (apart, angle) = (random.next() - 0.5, 2.0 * PI * random.next());
            let momentum = mass / (2.0 * ((2.0 * apart).cosh() + 1.0)).sqrt();
            put(momentum, apart, angle);
            put(momentum, -apart, angle + PI);
        }
        for _ in 0..(random.next() * 5.0) as usize {
            let momentum = 15.0 - 12.0 * (1.0 - random.next()).ln();
            put(momentum, 5.0 * random.next() - 2.5, 2.0 * PI * random.next());
        }
        all.counts.push(all.momenta.len() - before);
    }
    all
}

/// The mass of the two hardest jets of each event that has two, by loops.
fn by_loops(jets: &Jets) -> Vec<f64> {
    let (mut masses, mut first) = (Vec::new(), 0);
    for &count in &jets.counts {
        let mut numbers: Vec<usize> = (first..first + count).collect();
        first += count;
        numbers.retain(|&k| jets.momenta[k] > LEAST);
        numbers.sort_by(|&a, &b| jets.momenta[b].total_cmp(&jets.momenta[a]));
        if let [a, b, ..] = numbers[..] {
            let apart = (jets.rapidities[a] - jets.rapidities[b]).cosh();
            let around = (jets.angles[a] - jets.angles[b]).cos();
            masses.push((jets.momenta[a] * jets.momenta[b] * 2.0 * (apart - around)).sqrt());
        }
    }
    masses
}

fn main() -> Result<(), Box<dyn AnyError>> {
    let jets = generate();
    let offsets = Offsets::from_lengths(jets.counts.iter().copied())?;
    let rows =
        |items: &Vec<f64>| Ragged::new([EVENTS], offsets.clone(), Tensor::from(items.clone()));
    let [momenta, rapidities, angles] =
        [rows(&jets.momenta)?, rows(&jets.rapidities)?, rows(&jets.angles)?];
    println!("{} events, form {}", EVENTS, momenta.form()?);
    println!("momenta of the jets of the first ones: {:.1}", momenta.view().select((..4,))?);

    // Jets that are hard enough, then events that have two of them: views of what was generated.
    let hard = momenta.greater(LEAST).eval()?;
    let counts = hard.count_nonzero(1).eval_dense()?;
    let chosen = counts.cast::<usize>().greater(1_usize).nonzero()?;
    let events: Vec<usize> = chosen.to_vec()?;
    let of_two = |jets: &Ragged<Vec<f64>>| jets.clone().keep(1, &hard)?.select((events.clone(),));
    let momenta = of_two(&momenta)?;
    let hardest = momenta.arg_top_k(1, 2, SortOrder::Descending).eval()?;
    let [momenta, rapidities, angles] = [
        momenta.take(1, &hardest)?,
        of_two(&rapidities)?.take(1, &hardest)?,
        of_two(&angles)?.take(1, &hardest)?,
    ];
    let one =
        |jets: &Ragged<Vec<f64>>, which: usize| jets.clone().select((.., which))?.into_tensor();
    let product = one(&momenta, 0)? * one(&momenta, 1)?;
    let apart = (one(&rapidities, 0)? - one(&rapidities, 1)?).cosh();
    let around = (one(&angles, 0)? - one(&angles, 1)?).cos();
    let masses = (product * 2.0 * (apart - around)).sqrt().eval()?;

    let expected = by_loops(&jets);
    let expected = Tensor::from(expected);
    assert_eq!(masses.shape(), expected.shape(), "as many events");
    let error = ((&masses - &expected) / &expected).abs().max(..).item()?;
    assert!(error < 1e-6, "views and loops agree, but for {error}");
    println!("{} events with two jets above {LEAST}", masses.len());

    // The particle stands out: its bins have more events than their neighbours together.
    let edges = bin_edges()?;
    let counts = masses.histogram(Edges::new(edges.clone())?).to_vec()?;
    let peak = counts.iter().enumerate().max_by_key(|(_, count)| **count).map_or(0, |(k, _)| k);
    let centre = edges[peak] + 1.25;
    println!(
        "the fullest of {} bins has {} events, at a mass of {centre:.2}",
        counts.len(),
        counts[peak]
    );
    assert!((centre - MASS).abs() < 2.5, "the particle is where it was put");

    let default = std::env::temp_dir().join("lensor-events.png");
    let path = std::env::args_os().nth(1).map_or(default, Into::into);
    draw(&path, &counts)?;
    println!("histogram: {}", path.display());
    Ok(())
}

/// Edges of bins from 0 to 200.
fn bin_edges() -> lensor::Result<Vec<f64>> {
    lensor::generate::linspace(0.0, 200.0, BINS + 1)?.to_vec()
}

/// Bars as dark as the ground is not: a comparison of each row of pixels with the heights of all bars.
fn draw(path: &std::path::Path, counts: &[u64]) -> Result<(), Box<dyn AnyError>> {
    let [rows, wide] = PIXELS;
    let most = counts.iter().copied().max().unwrap_or(1) as f64;
    let heights = Tensor::from(counts.iter().map(|&n| n as f64 / most).collect::<Vec<_>>());
    let heights = heights.reshape([BINS, 1])?.broadcast([BINS, wide])?.reshape([BINS * wide])?;
    let levels = lensor::generate::linspace(1.05, 0.0, rows)?.reshape([rows, 1])?;
    let pixels = choose(levels.less(heights), 40_u8, 235_u8).eval()?;
    let file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut encoder = png::Encoder::new(file, u32::try_from(BINS * wide)?, u32::try_from(rows)?);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels.to_vec()?)?;
    writer.finish()?;
    Ok(())
}
