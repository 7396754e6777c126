//! Meshes of triangles by generalized ufuncs: areas, normals and volumes of a sphere and of a knot, whose errors must
//! shrink as the books say; faces that are none, found by their index; and a picture, shaded by the normals.
//!
//! A mesh is two tensors: points [points, 3], and the numbers of the three corners of every face [faces, 3]. What a face
//! needs is one function of a 3 x 3 core; the only loop over faces is that of the picture, which decides what hides what.
//!
//! `cargo run --release --example triangles [picture.png]` prints a table and writes the picture.

use lensor::generate::linspace_open;
use lensor::gufunc::{Elementary, Gufunc, cdist, cross, det, inner1d, matmul, norm, normalize};
use lensor::prelude::*;
use lensor::tensor::{concat, stack};
use std::error::Error as AnyError;
use std::f64::consts::{PI, TAU};
use std::path::Path;

type Points = Tensor<Vec<f64>>;
type Faces = Tensor<Vec<usize>>;
/// A gufunc of one input and two outputs.
type OneToTwo<F> = Gufunc<[f64; 1], [f64; 2], F>;

/// Radius of the tube along the knot.
const TUBE: f64 = 0.5;
/// Where two faces without area are planted.
const PLANTED: [usize; 2] = [417, 1000];
/// Rows and columns of pixels of a picture.
const SIDE: usize = 480;
/// The way to the light, seen from the camera, which looks along the last axis.
const LIGHT: [f64; 3] = [-2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0];
/// Of what no light falls on.
const DARK: f64 = 0.15;
const GROUND: [f64; 3] = [24.0, 26.0, 30.0];

struct Mesh {
    points: Points,
    faces: Faces,
}

/// How a mesh is shown: half of what is seen from the left to the right, and its colour.
struct Look {
    reach: f64,
    colour: [f64; 3],
}

fn main() -> Result<(), Box<dyn AnyError>> {
    println!("shape   level   faces       area     volume  error of area  ratio");
    let mut sphere = icosahedron()?;
    let mut error = None;
    for level in 0..=5 {
        if level > 0 {
            sphere = halved(&sphere)?;
        }
        error = Some(converges("sphere", level, &sphere, [4.0 * PI, 4.0 / 3.0 * PI], error)?);
    }
    // A closed tube that does not meet itself has the area and the volume of a straight one.
    let [_, tangents, _] = curve(1000)?;
    let length = TAU * norm().call([&tangents]).lazy().mean(..).item()?;
    let exact = [TAU * TUBE * length, PI * TUBE * TUBE * length];
    let (mut trefoil, mut error) = (knot(60, 9)?, None);
    for level in 0..4 {
        trefoil = knot(60 << level, 9 << level)?;
        error = Some(converges("knot", level, &trefoil, exact, error)?);
    }
    println!();
    repair(&knot(60, 18)?)?;
    println!("\n{}", facets()?.call([&corners(&trefoil)?]).explain()?);

    let orange = Look { reach: 1.25, colour: [236.0, 120.0, 74.0] };
    let blue = Look { reach: 4.0, colour: [96.0, 170.0, 236.0] };
    let pictures = [picture(&sphere, &orange)?, picture(&trefoil, &blue)?];
    check(&pictures, &[orange, blue])?;
    let default = std::env::temp_dir().join("lensor-triangles.png");
    let path = std::env::args_os().nth(1).map_or(default, Into::into);
    write_png(&path, &concat(1, &pictures)?)?;
    println!("\npicture: {}", path.display());
    Ok(())
}

/// The normal and the area of triangles of three corners. What has no area has no normal: an error.
fn facets() -> Result<OneToTwo<impl Elementary<[f64; 1], [f64; 2]>>, Error> {
    OneToTwo::each("(3,3)->(3),()", |[corners], [mut normal, mut area]| {
        let side = |k| [0, 1, 2].map(|axis| corners.at([k, axis]) - corners.at([0, axis]));
        let ([a, b, c], [d, e, f]) = (side(1), side(2));
        let across = [b * f - c * e, c * d - a * f, a * e - b * d];
        let length = |[x, y, z]: [f64; 3]| (x * x + y * y + z * z).sqrt();
        let double = length(across);
        if double <= 1e-12 * length([a, b, c]) * length([d, e, f]) {
            return Err(format!("corners {:?} are on a line", &*corners));
        }
        normal.copy_from_slice(&across.map(|x| x / double));
        area[0] = double / 2.0;
        Ok(())
    })
}

/// Points at numbers of any shape: an axis of coordinates behind its own.
fn gather(points: &Points, numbers: &Faces) -> Result<Points, Error> {
    let coordinates = Tensor::from(vec![0_usize, 1, 2]);
    points.take_at((numbers.view().insert_axis(numbers.rank())?, &coordinates)).eval()
}

/// The corners of all faces, [faces, 3, 3].
fn corners(mesh: &Mesh) -> Result<Points, Error> {
    gather(&mesh.points, &mesh.faces)
}

/// Prints a row of the table, with the error of the area, which is to be a quarter of that `before`; returns it.
fn converges(
    name: &str,
    level: usize,
    mesh: &Mesh,
    [exact_area, exact_volume]: [f64; 2],
    before: Option<f64>,
) -> Result<f64, Error> {
    let corners = corners(mesh)?;
    let [normals, areas] = facets()?.call([&corners]).outputs();
    let area = areas.view().sum(..).item()?;
    // A face and the origin span a sixth of what its corners do.
    let volume = det().call([&corners]).lazy().sum(..).item()? / 6.0;
    let error = exact_area - area;
    let ratio = before.map(|before| before / error);
    let shown = ratio.map_or("    -".into(), |ratio| format!("{ratio:>5.3}"));
    let faces = mesh.faces.shape()[0];
    println!("{name:<6} {level:>6} {faces:>7} {area:>10.5} {volume:>10.5} {error:>14.6}  {shown}");

    // The same areas by what is ready made, of edges that are never kept.
    let sides = corners.view().slice(1, 1..3)? - corners.view().slice(1, 0..1)?;
    let spanned = cross().call([sides.clone().select((.., 0))?, sides.select((.., 1))?]);
    let again = (norm().call([spanned]).lazy() * 0.5).eval()?;
    assert!(again.all_close(&areas, 1e-12, 0.0)?);
    assert!(norm().call([&normals]).eval()?[0].all_close(1.0, 0.0, 1e-14)?);
    // A closed surface faces all ways alike.
    let all_ways = (normals * areas.insert_axis(1)?).sum(0).eval()?;
    assert!(all_ways.all_close(0.0, 0.0, 1e-11)?);
    let short = 1.0 - volume / exact_volume;
    assert!(short > 0.0 && short < 4.0 * error / exact_area);
    // The first steps are too coarse for a law of small ones.
    assert!(level < 2 || ratio.is_some_and(|ratio| (3.8..4.1).contains(&ratio)));
    Ok(error)
}

/// The twelve points and twenty faces of an icosahedron in the unit sphere.
fn icosahedron() -> Result<Mesh, Error> {
    let golden = (1.0 + 5_f64.sqrt()) / 2.0;
    let ends = |z: f64| [[0.0, 1.0, z], [0.0, -1.0, z]];
    let rectangle = Tensor::from_nested([ends(golden), ends(-golden)])?.reshape([4, 3])?;
    let turned = |k| rectangle.view().rotate([0, k]);
    let points = concat(0, [turned(0)?, turned(1)?, turned(2)?])?.eval()?;

    // A face is of three neighbours: points at distance 2. Each is found once, its numbers ascending.
    let [distances] = cdist().call([&points, &points]).eval()?;
    let number = Tensor::<Vec<usize>>::from_index([12], |i| i[0])?;
    let ascends = number.view().insert_axis(1)?.lazy().less(&number);
    let edges = ((distances - 2.0).abs().less(1e-9) & ascends).eval()?;
    let [ab, ac, bc] = [2, 1, 0].map(|axis| edges.view().insert_axis(axis));
    let faces = (ab?.lazy() & ac? & bc?).nonzero()?;
    assert_eq!(faces.shape(), [20, 3]);

    // Seen from outside they shall go round counterclockwise: where not, the last two change places.
    let [points] = normalize().call([&points]).eval()?;
    let corners = gather(&points, &faces)?;
    let inside_out = det().call([&corners]).lazy().less(0.0).insert_axis(1)?;
    let faces = choose(inside_out, faces.view().select((.., [0, 2, 1]))?, &faces).eval()?;
    Ok(Mesh { points, faces })
}

/// Every face in four, with new points on the sphere above the middles of edges.
fn halved(mesh: &Mesh) -> Result<Mesh, Error> {
    let count = mesh.points.shape()[0];
    // Edge k of a face leads from corner k to the next. What both of its faces make of it is the same number.
    let (from, to) = (&mesh.faces, mesh.faces.view().rotate([0, -1])?);
    let edges = (from.minimum(&to) * count + from.maximum(&to)).unique()?;
    assert!(edges.counts.equal(2).all(..).item()?);

    let ends = (edges.values.insert_axis(1)? / Tensor::from(vec![count, 1]) % count).eval()?;
    let [middles] = normalize().call([gather(&mesh.points, &ends)?.sum(1)]).eval()?;
    let points = concat(0, [&mesh.points, &middles])?.eval()?;

    // One face at each corner: itself, the middle behind it, the middle before it; and one of the middles.
    let after = (edges.inverse + count).eval()?;
    let before = after.view().rotate([0, 1])?;
    let at_corners = stack(2, [mesh.faces.view(), after.view(), before])?.eval()?;
    let of_middles = after.insert_axis(1)?;
    let faces = concat(1, [&at_corners, &of_middles])?;
    let faces = faces.reshape([4 * mesh.faces.shape()[0], 3])?.eval()?;
    Ok(Mesh { points, faces })
}

/// Points of the trefoil, and the first and second derivatives there: [steps, 3] each.
fn curve(steps: usize) -> Result<[Points; 3], Error> {
    let t = linspace_open(0.0, TAU, steps)?.eval()?;
    let row =
        |of: fn(f64) -> [f64; 3]| Tensor::from_index([steps, 3], |i| of(t.storage()[i[0]])[i[1]]);
    Ok([
        row(|t| {
            [t.sin() + 2.0 * (2.0 * t).sin(), t.cos() - 2.0 * (2.0 * t).cos(), -(3.0 * t).sin()]
        })?,
        row(|t| {
            let [x, y] = [t.cos() + 4.0 * (2.0 * t).cos(), 4.0 * (2.0 * t).sin() - t.sin()];
            [x, y, -3.0 * (3.0 * t).cos()]
        })?,
        row(|t| {
            let [x, y] = [-t.sin() - 8.0 * (2.0 * t).sin(), 8.0 * (2.0 * t).cos() - t.cos()];
            [x, y, 9.0 * (3.0 * t).sin()]
        })?,
    ])
}

/// A tube along the trefoil: a ring of `around` points at each of `along` steps.
fn knot(along: usize, around: usize) -> Result<Mesh, Error> {
    let [centres, tangents, bends] = curve(along)?;
    // The ring stands on the tangent, between these two.
    let up = normalize().call([cross().call([&tangents, &bends])]).eval()?[0].clone();
    let [side] = normalize().call([cross().call([&up, &tangents])]).eval()?;
    let [centres, up, side] = [centres, up, side].map(|t| t.insert_axis(1));
    let angles = linspace_open(0.0, TAU, around)?.insert_axis(1)?;
    let ring = angles.view().cos() * side? + angles.view().sin() * up?;
    let points = (ring * TUBE + centres?).eval()?.reshape([along * around, 3])?;

    let number = Tensor::<Vec<usize>>::from_index([along, around], |i| i[0] * around + i[1])?;
    let next = |steps: [isize; 2]| number.view().rotate(steps);
    let squares = stack(2, [number.view(), next([0, -1])?, next([-1, 0])?, next([-1, -1])?])?;
    let faces = squares.select((.., .., [0, 1, 2, 2, 1, 3]))?;
    let faces = faces.reshape([2 * along * around, 3])?.eval()?;
    Ok(Mesh { points, faces })
}

/// Plants faces without area in a mesh, finds them by the index of the error, and computes the others.
fn repair(mesh: &Mesh) -> Result<(), Error> {
    let facets = facets()?;
    let [_, clean] = facets.call([&corners(mesh)?]).eval()?;
    let clean = clean.sum(..).item()?;

    // One has a corner twice, the other the middle of its side for the third.
    let [a, b] = [0, 1].map(|k| mesh.points.view().slice(0, k..k + 1));
    let middle = ((a? + b?) * 0.5).eval()?;
    let points = concat(0, [&mesh.points, &middle])?.eval()?;
    let lines = [
        Tensor::from_nested([[5_usize, 6, 6]])?,
        Tensor::from_nested([[0, points.shape()[0] - 1, 1]])?,
    ];
    let between = |from: usize, to: usize| mesh.faces.view().slice(0, from..to);
    let [first, second] = PLANTED;
    let parts = [
        between(0, first)?,
        lines[0].view(),
        between(first, second - 1)?,
        lines[1].view(),
        between(second - 1, mesh.faces.shape()[0])?,
    ];
    let broken = Mesh { points, faces: concat(0, parts)?.eval()? };

    let corners = corners(&broken)?;
    let mut sound = Tensor::full([corners.shape()[0]], true)?;
    let mut found = Vec::new();
    let [normals, areas] = loop {
        match facets.call([&corners]).filter(&sound).or([0.0; 2]).eval() {
            Err(Error::Elementary { index, source }) => {
                println!("face {}: {source}", index[0]);
                sound.set(&index, false)?;
                found.push(index[0]);
            }
            results => break results?,
        }
    };
    assert_eq!(found, PLANTED);
    assert!(areas.sum(..).eval()?.all_close(clean, 1e-13, 0.0)?);
    assert_eq!(normals.select((first,))?.to_vec()?, [0.0; 3]);
    assert_eq!(broken.faces.compress(0, &sound)?.eval()?, mesh.faces);
    Ok(())
}

/// A mesh as [SIDE, SIDE, 3] pixels: each face as bright as it is turned to the light.
fn picture(mesh: &Mesh, look: &Look) -> Result<Tensor<Vec<u8>>, Error> {
    // Tilted a little. Then x runs to the right, y down, both in pixels, and z to the camera.
    let (sin, cos) = 0.35_f64.sin_cos();
    let tilt = Tensor::from_nested([[1.0, 0.0, 0.0], [0.0, cos, sin], [0.0, -sin, cos]])?;
    let [points] = matmul().call([&mesh.points, &tilt]).eval()?;
    let corners = gather(&points, &mesh.faces)?;
    let half = SIDE as f64 / 2.0;
    let scale = half / look.reach;
    let screen =
        &corners * Tensor::from(vec![scale, -scale, scale]) + Tensor::from(vec![half, half, 0.0]);
    let faces = mesh.faces.shape()[0];
    let seen = front(&screen.eval()?, faces)?;

    let [normals, _] = facets()?.call([&corners]).outputs();
    let facing = inner1d().call((&normals, Tensor::new([3], LIGHT)?)).lazy();
    let light = (facing.maximum(0.0) * (1.0 - DARK) + DARK).eval()?;
    let light = light.take_at((seen.minimum(faces - 1),)).eval()?.insert_axis(2)?;
    let is_ground = seen.equal(faces).insert_axis(2)?;
    let (colour, ground) = (Tensor::new([3], look.colour)?, Tensor::new([3], GROUND)?);
    choose(is_ground, &ground, light * &colour).round().cast::<u8>().eval()
}

/// The number of the face in front at every pixel; where there is none, `nothing`.
fn front(screen: &Points, nothing: usize) -> Result<Faces, Error> {
    let mut depth = vec![f64::NEG_INFINITY; SIDE * SIDE];
    let mut seen = vec![nothing; SIDE * SIDE];
    for (face, corners) in screen.storage().as_chunks::<9>().0.iter().enumerate() {
        let &[ax, ay, az, bx, by, bz, cx, cy, cz] = corners;
        let double = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
        // Those that are turned away are hidden. The second axis runs down, so the sense is the other one.
        if double >= 0.0 {
            continue;
        }
        let span = |a: f64, b: f64, c: f64| {
            let (low, high) = (a.min(b).min(c) - 0.5, a.max(b).max(c) + 0.5);
            low.max(0.0) as usize..(high.max(0.0) as usize).min(SIDE)
        };
        for row in span(ay, by, cy) {
            for column in span(ax, bx, cx) {
                let (x, y) = (column as f64 + 0.5, row as f64 + 0.5);
                let b = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / double;
                let c = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / double;
                let z = az + b * (bz - az) + c * (cz - az);
                let pixel = row * SIDE + column;
                if b >= 0.0 && c >= 0.0 && b + c <= 1.0 && z > depth[pixel] {
                    (depth[pixel], seen[pixel]) = (z, face);
                }
            }
        }
    }
    Tensor::from_vec([SIDE, SIDE], seen)
}

/// Looks at pixels.
fn check(pictures: &[Tensor<Vec<u8>>; 2], looks: &[Look; 2]) -> Result<(), Error> {
    let [red, _] = pictures.each_ref().map(|picture| picture.view().select((.., .., 0)));
    let red = red?;
    let (reach, full) = (looks[0].reach, looks[0].colour[0]);
    // A point of the sphere in the plane of the picture, in radii.
    let at = |[x, y]: [f64; 2]| {
        let pixel = |x: f64| ((x / reach + 1.0) * SIDE as f64 / 2.0) as usize;
        red.get([pixel(-y), pixel(x)]).map(|red| f64::from(red) / full)
    };
    let [x, y, _] = LIGHT;
    assert!(at([x, y])? > 0.99, "brightest where the light comes from");
    assert!((at([-x * 1.25, -y * 1.25])? - DARK).abs() < 0.005, "dark on the other side");
    assert_eq!(red.get([0, 0])?, GROUND[0] as u8);
    let disc = red.not_equal(GROUND[0] as u8).count_nonzero(..).item()? as f64;
    let share = disc / (SIDE * SIDE) as f64 / (PI / (4.0 * reach * reach));
    assert!((share - 1.0).abs() < 0.01, "the sphere is a disc: {share}");
    for (picture, look) in pictures.iter().zip(looks) {
        let blue = picture.view().select((.., .., 2))?;
        let brightest = f64::from(blue.max(..).item()?);
        assert!((brightest - look.colour[2]).abs() < 2.0, "some face looks into the light");
    }
    Ok(())
}

fn write_png<S: Reader<Elem = u8>>(
    path: &Path,
    pixels: &Tensor<S>,
) -> Result<(), Box<dyn AnyError>> {
    let shape = pixels.shape();
    let file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut encoder = png::Encoder::new(file, shape[1].try_into()?, shape[0].try_into()?);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels.to_vec()?)?;
    writer.finish()?;
    Ok(())
}
