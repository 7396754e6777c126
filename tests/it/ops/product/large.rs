//! Extents that are never visited, and products that threads share.

use lensor::product::PlusTimes;
use lensor::storage::{Duplicates, Sparse};
use lensor::{Error, Tensor};

/// A matrix from a generator of numbers, with this many entries or fewer.
fn scattered([rows, columns]: [usize; 2], count: usize, mut seed: u64) -> Tensor<Sparse<f64>> {
    let mut next = |limit: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % limit
    };
    let indexes: Vec<_> = (0..count).map(|_| [next(rows), next(columns)]).collect();
    let values = (0..count).map(|_| next(1000) as f64 / 7.0 - 70.0).collect();
    let duplicates = Duplicates::First;
    Tensor::from_coordinates([rows, columns], 0.0, &indexes, values, duplicates).unwrap()
}

/// The same entries with every column `k` at `k * step`.
fn spread(t: &Tensor<Sparse<f64>>, columns: usize, step: usize) -> Tensor<Sparse<f64>> {
    let rows = t.shape()[0];
    let addresses = t.storage().addresses().iter();
    let addresses = addresses.map(|k| k / columns * columns * step + k % columns * step).collect();
    let values = t.storage().values().to_vec();
    let storage = Sparse::from_sorted(rows * columns * step, 0.0, addresses, values).unwrap();
    Tensor::new([rows, columns * step], storage).unwrap()
}

/// Few entries in large extents are looked up and sorted instead of laid out; the results are the same.
#[test]
fn large_extents_change_positions_only() {
    let (a, b) = (scattered([50, 40], 300, 1), scattered([40, 60], 500, 2));
    let product = a.times_sparse(&b, PlusTimes).unwrap();
    let wide = a.times_sparse(&spread(&b, 60, 1 << 30), PlusTimes).unwrap();
    assert_eq!(wide.storage(), spread(&product, 60, 1 << 30).storage());
    let turned = b.view().transpose([1, 0]).unwrap().stored_entries().unwrap().unwrap();
    let tall = spread(&Tensor::new([60, 40], turned).unwrap(), 40, 1 << 30);
    let tall = tall.transpose([1, 0]).unwrap();
    let deep = (spread(&a, 40, 1 << 30)).times_sparse(&tall, PlusTimes).unwrap();
    assert_eq!(deep.storage(), product.storage());
}

/// 2^40 elements an operand, and as many in the result.
#[test]
fn virtual_matrices_take_no_more_than_their_entries() {
    let side = 1 << 20;
    let indexes = [[3, 900_000], [900_000, 7], [7, 3]];
    let values = vec![2, 3, 5];
    let t =
        Tensor::from_coordinates([side, side], 0, &indexes, values, Duplicates::Refuse).unwrap();
    let square = t.times_sparse(&t, PlusTimes).unwrap();
    assert_eq!(square.shape(), [side, side]);
    let entries: Vec<_> = square.storage().iter().collect();
    assert_eq!(entries, [(3 * side + 7, 6), (7 * side + 900_000, 10), (900_000 * side + 3, 15)]);
    let rotated = t.view().rotate([1, 0]).unwrap();
    let rotated = rotated.times_sparse(&t, PlusTimes).unwrap();
    assert_eq!(rotated.get([4, 7]), Ok(6));
    let outer = t.contract(&t, &[], PlusTimes).unwrap_err();
    assert_eq!(outer, Error::ShapeOverflow { shape: vec![side; 4] });
}

/// The same bits in pools of any size, and for rows of very different lengths.
#[cfg(feature = "rayon")]
#[test]
fn products_do_not_depend_on_threads() {
    let mut a = scattered([400, 3000], 60_000, 3);
    a.view_mut().select((7,)).unwrap().fill(0.1).unwrap();
    let b = scattered([3000, 500], 30_000, 4);
    let x = Tensor::from_fn([3000, 40], |k| (k as f64 * 0.7).sin()).unwrap().eval().unwrap();
    let column = x.view().select((.., 0)).unwrap().eval().unwrap();
    let run = |threads| {
        let pool = crate::support::pool(threads);
        pool.install(|| {
            (
                a.times_sparse(&b, PlusTimes).unwrap(),
                a.times_dense(&x, PlusTimes).to_vec().unwrap(),
                a.times_dense(&column, PlusTimes).to_vec().unwrap(),
            )
        })
    };
    let one = run(1);
    assert!(one.0.storage().stored_len() > 100_000);
    for threads in [2, 3] {
        let more = run(threads);
        assert_eq!(one.0.storage(), more.0.storage());
        assert!(one.1 == more.1 && one.2 == more.2);
    }
}
