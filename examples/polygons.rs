//! Polygons with any number of corners: areas, perimeters, centroids, boxes and which points lie inside, from one table of
//! corners, without a loop over polygons.
//!
//! What is a loop in other programs is a view here: the corner after each is the corners rotated by one, row by row. Stars
//! are generated from a stated seed, and the results are held against plain loops.
//!
//! `cargo run --release --example polygons` prints a table.

use lensor::prelude::*;
use lensor::ragged::{Ragged, zip_ragged};
use std::error::Error as AnyError;
use std::f64::consts::TAU;

const POLYGONS: usize = 50_000;
const SEED: u64 = 20_261_124;

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

/// Corners of a star around a random centre, against the clock: 3 to 40 of them.
fn star(random: &mut Random) -> Vec<[f64; 2]> {
    let corners = 3 + (random.next() * 38.0) as usize;
    let [x, y] = [0, 1].map(|_| 1000.0 * random.next());
    let around = |k: usize| TAU * k as f64 / corners as f64;
    let mut corner = |k: usize| {
        let (radius, angle) = (1.0 + 9.0 * random.next(), around(k));
        [x + radius * angle.cos(), y + radius * angle.sin()]
    };
    (0..corners).map(&mut corner).collect()
}

/// Area and perimeter, centroid, and whether a point lies inside, by a loop over the edges.
fn by_loops(corners: &[[f64; 2]], point: [f64; 2]) -> ([f64; 2], [f64; 2], bool) {
    let (mut area, mut perimeter, mut centroid, mut inside) = (0.0, 0.0, [0.0; 2], false);
    for (k, &[x, y]) in corners.iter().enumerate() {
        let [u, v] = corners[(k + 1) % corners.len()];
        let cross = x * v - u * y;
        area += cross / 2.0;
        perimeter += (u - x).hypot(v - y);
        centroid = [centroid[0] + (x + u) * cross, centroid[1] + (y + v) * cross];
        inside ^= crosses([x, y], [u, v], point);
    }
    ([area, perimeter], centroid.map(|sum| sum / (6.0 * area)), inside)
}

/// Whether an edge crosses the ray that leads from a point to the right.
fn crosses([x, y]: [f64; 2], [u, v]: [f64; 2], [at, height]: [f64; 2]) -> bool {
    (y > height) != (v > height) && at < (u - x) * (height - y) / (v - y) + x
}

fn main() -> Result<(), Box<dyn AnyError>> {
    let mut random = Random(SEED);
    let all: Vec<Vec<[f64; 2]>> = (0..POLYGONS).map(|_| star(&mut random)).collect();
    // A row of corners for each polygon; the two coordinates of a corner are an axis of their own.
    let corners = Tensor::from_vec(
        [all.iter().map(Vec::len).sum(), 2],
        all.iter().flatten().flatten().copied().collect(),
    )?;
    let offsets = lensor::ragged::Offsets::from_lengths(all.iter().map(Vec::len))?;
    let polygons = Ragged::new([POLYGONS], offsets, corners)?;
    println!("{} corners, form {}", polygons.content().len() / 2, polygons.form()?);
    println!("the first one: {:.1}", polygons.view().select((..1,))?);

    let after = polygons.view().rotate([0, -1, 0])?;
    let [x, y] = [polygons.view().select((.., .., 0))?, polygons.view().select((.., .., 1))?];
    let [u, v] = [after.view().select((.., .., 0))?, after.view().select((.., .., 1))?];
    let cross = (&x * &v - &u * &y).eval()?;
    let areas = (cross.sum(1).eval_dense()? * 0.5).eval()?;
    let perimeters = ((&u - &x) * (&u - &x) + (&v - &y) * (&v - &y)).sqrt().sum(1).eval_dense()?;
    let centroids = [
        (((&x + &u) * &cross).sum(1).eval_dense()? / (&areas * 6.0)).eval()?,
        (((&y + &v) * &cross).sum(1).eval_dense()? / (&areas * 6.0)).eval()?,
    ];
    // Corners of the smallest boxes: the coordinates stay an axis.
    let [low, high] = [polygons.min(1).eval_dense()?, polygons.max(1).eval_dense()?];

    // A point for each polygon, as a column that meets all of its edges: the middle of its box.
    let middles = ((&low + &high) * 0.5).eval()?;
    let column = |axis: usize| middles.view().select((.., axis))?.insert_axis(1);
    let (at, height) = (column(0)?, column(1)?);
    let crossed = zip_ragged((&x, &y, &u, &v, &at, &height), |(x, y, u, v, at, height)| {
        crosses([x, y], [u, v], [at, height])
    });
    let inside = (crossed.count_nonzero(1).eval_dense()?).map(|edges| edges % 2 == 1).eval()?;

    for (k, corners) in all.iter().enumerate() {
        let middle = [0, 1].map(|axis| middles.get([k, axis]));
        let ([area, perimeter], centroid, within) =
            by_loops(corners, [middle[0].clone()?, middle[1].clone()?]);
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-6 * expected.abs();
        assert!(near(areas.get([k])?, area), "the area of polygon {k}");
        assert!(near(perimeters.get([k])?, perimeter), "the perimeter of polygon {k}");
        assert!(
            (0..2).all(|axis| near(centroids[axis].get([k]).unwrap_or(f64::NAN), centroid[axis]))
        );
        assert_eq!(inside.get([k])?, within, "the middle of polygon {k}");
    }
    let largest = areas.argmax(..).item()?;
    println!("areas from {:.1} to {:.1}", areas.min(..).item()?, areas.max(..).item()?);
    println!("the largest has {} corners", all[largest].len());
    println!("mean perimeter {:.1}", perimeters.mean(..).item()?);
    let share = inside.count_nonzero(..).item()? as f64 / POLYGONS as f64;
    println!("the middle of its box lies inside of {:.1} % of all", 100.0 * share);
    Ok(())
}
