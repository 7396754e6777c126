//! Short lanes, several of which are sorted together.

use super::support::{bits, sorted, special};
use lensor::lanes::{Interpolation, SortOrder};
use lensor::prelude::*;

#[test]
fn few_lanes_are_sorted_as_many() {
    for (extent, rows) in (1..34).flat_map(|extent| [1, 2, 8, 9, 16, 17].map(|n| (extent, n))) {
        let data: Vec<f64> =
            (0..rows * extent).map(|k| special((k * k * 37 % 251) as u8)).collect();
        let t = Tensor::from_vec([rows, extent], data.clone()).unwrap();
        for order in [SortOrder::Ascending, SortOrder::Descending] {
            let expected: Vec<f64> =
                data.chunks(extent).flat_map(|lane| sorted(lane, order)).collect();
            let found = t.sort(1, order).to_vec().unwrap();
            assert_eq!(bits(&found), bits(&expected), "{rows} x {extent}");
        }
        let narrow = t.view().lazy().map(|x| (x * 7.0) as i16).eval().unwrap();
        let mut expected = narrow.to_vec().unwrap();
        expected.chunks_mut(extent).for_each(<[i16]>::sort);
        assert_eq!(narrow.sort(1, SortOrder::Ascending).to_vec().unwrap(), expected);
    }
}

/// Lanes that are sorted together and lanes alone, some with NaN, have the same quantiles.
#[test]
fn quantiles_of_few_lanes_are_those_of_each() {
    for (extent, rows) in
        [2, 3, 8, 15, 32, 33].into_iter().flat_map(|n| [2, 7, 16, 40].map(|m| (n, m)))
    {
        let data: Vec<f64> =
            (0..rows * extent).map(|k| special((k * k * 29 % 255) as u8)).collect();
        let t = Tensor::from_vec([rows, extent], data).unwrap();
        let quantiles = [0.0, 0.3, 0.5, 1.0];
        for (what, found) in [
            ("quantiles", t.quantiles(1, &quantiles, Interpolation::Linear).to_vec().unwrap()),
            (
                "but for NaN",
                t.nan_quantiles(1, &quantiles, Interpolation::Linear).to_vec().unwrap(),
            ),
        ] {
            for (row, found) in found.chunks(quantiles.len()).enumerate() {
                let lane = t.view().slice(0, row..row + 1).unwrap();
                let alone = match what {
                    "quantiles" => lane.quantiles(1, &quantiles, Interpolation::Linear).to_vec(),
                    _ => lane.nan_quantiles(1, &quantiles, Interpolation::Linear).to_vec(),
                };
                assert_eq!(
                    bits(found),
                    bits(&alone.unwrap()),
                    "{what}, row {row} of {rows} x {extent}"
                );
            }
        }
    }
}
