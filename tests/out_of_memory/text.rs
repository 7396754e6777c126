//! Text files.

use super::{FEW as COUNT, FEW_SIDE as SIDE, every_shortage, short_of_memory, square_of};
use lensor::interop::{mtx, tns};
use lensor::prelude::*;
use lensor::storage::Sparse;

pub(crate) fn files() {
    let t = square_of(SIDE);
    let addresses: Vec<usize> = (0..COUNT).map(|k| 2 * k).collect();
    let values = (0..COUNT as u64).map(|k| k | 1).collect();
    let storage = Sparse::from_sorted(2 * COUNT, 0, addresses, values).unwrap();
    let sparse = Tensor::new([COUNT / 100, 200], storage).unwrap();
    every_shortage("mtx write", 1, || mtx::write(std::io::sink(), &sparse));
    every_shortage("mtx write crossed", 1, || {
        mtx::write(std::io::sink(), &sparse.view().transpose([1, 0])?)
    });
    every_shortage("mtx write_array", 1, || mtx::write_array(std::io::sink(), &t * 2));
    every_shortage("tns write", 1, || tns::write(std::io::sink(), &sparse));
    every_shortage("tns write crossed", 1, || {
        tns::write(std::io::sink(), &sparse.view().transpose([1, 0])?)
    });
    // Entries in order are not copied: there is memory for one block of text and no more.
    short_of_memory(1, false, || mtx::write(std::io::sink(), &sparse)).unwrap();
    short_of_memory(1, false, || tns::write(std::io::sink(), &sparse)).unwrap();
    let parts = |t: Tensor<Sparse<u64>>| t.into_storage().into_parts();
    let mut file = Vec::new();
    mtx::write(&mut file, &sparse).unwrap();
    every_shortage("mtx read", 2, || mtx::read::<u64>(&file[..]).map(parts));
    file.clear();
    mtx::write(&mut file, &sparse.view().transpose([1, 0]).unwrap()).unwrap();
    every_shortage("mtx read crossed", 2, || mtx::read::<u64>(&file[..]).map(parts));
    file.clear();
    mtx::write_array(&mut file, &t).unwrap();
    every_shortage("mtx read_array", 1, || mtx::read_array::<u64>(&file[..])?.to_vec());
    file.clear();
    tns::write(&mut file, &sparse).unwrap();
    every_shortage("tns read", 2, || tns::read::<u64>(&file[..]).map(parts));
    every_shortage("tns read_shaped", 2, || {
        tns::read_shaped::<u64>(&file[..], sparse.shape()).map(parts)
    });
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sparse.tns");
    every_shortage("tns save", 1, || tns::save(&path, &sparse));
    every_shortage("tns open", 2, || tns::open::<u64>(&path).map(parts));
}
