//! Scans and rolling windows against `memcpy` of the bytes read and written, plain loops and ndarray.
//! `-- --quick` takes small inputs.

use lensor::reduce::Reducer;
use lensor::scan::Scan;
use lensor::Tensor;
use std::hint::black_box;
use std::time::Instant;

struct Total;
impl Reducer<f64> for Total {
    type State = f64;
    type Out = f64;
    fn empty(&self) -> Option<f64> { Some(0.0) }
    fn first(&self, x: f64) -> f64 { x }
    #[inline(always)]
    fn step(&self, state: &mut f64, x: f64) { *state += x; }
    #[inline(always)]
    fn combine(&self, state: &mut f64, later: f64) { *state += later; }
    fn finish(&self, state: f64) -> f64 { state }
}

fn time(mut f: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..9 {
        let t = Instant::now();
        f();
        best = best.min(t.elapsed().as_secs_f64());
    }
    best * 1e3
}

fn main() {
    let n = 4096;
    let data: Vec<f64> = (0..n * n).map(|k| (k % 1009) as f64).collect();
    let t = Tensor::from_vec([n, n], data.clone()).unwrap();
    let mut out = Tensor::full([n, n], 0.0).unwrap();
    let mut copy = vec![0.0; n * n];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let m = time(|| copy.copy_from_slice(black_box(&data)));
        println!("memcpy {m:.2}");
        for axis in 0..2 {
            let ours = time(|| (&t).scan(axis, Total).assign_to(&mut out).unwrap());
            println!("axis {axis}: {ours:.2} {:.2}", ours / m);
        }
        let flat = t.view().reshape([n * n]).unwrap();
        let mut out = Tensor::full([n * n], 0.0).unwrap();
        let ours = time(|| (&flat).scan(0, Total).assign_to(&mut out).unwrap());
        println!("flat: {ours:.2} {:.2}", ours / m);
    });
}
