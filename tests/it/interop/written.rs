//! Files for the original libraries to read, where `LENSOR_WRITTEN` names a folder: `tests/data/read_back.py` compares them
//! with their `.npy` twins.

use lensor::Tensor;
use lensor::dtype::ByteOrder;
use lensor::interop::zarr::{self, Options};
use lensor::interop::{npy, npz, safetensors};
use lensor::storage::Sparse;
use std::path::Path;

fn tensor<T: Copy + Send + Sync>(shape: &[usize], element: impl Fn(usize) -> T) -> Tensor<Vec<T>> {
    let count = shape.iter().product();
    Tensor::from_vec(shape, (0..count).map(element).collect()).unwrap()
}

#[test]
fn files_for_others() {
    let named = std::env::var_os("LENSOR_WRITTEN").filter(|dir| !dir.is_empty());
    let Some(dir) = named else { return };
    let dir = Path::new(&dir);
    let twin = |name: &str| dir.join(format!("{name}.npy"));
    let a = tensor(&[3, 4], |k| k as f64 * 0.5);
    let b = tensor(&[2, 3, 2], |k| k as i16 - 5);
    let c = tensor(&[7], |k| k % 3 == 0);
    let none = tensor(&[0, 3], |k| k as u8);
    let turned = a.view().transpose([1, 0]).unwrap();
    npy::save(twin("a"), &turned).unwrap();
    npy::save(twin("b"), &b).unwrap();
    npy::save(twin("c"), &c).unwrap();
    npy::save(twin("none"), &none).unwrap();
    for (name, deflated) in [("stored", false), ("deflated", true)] {
        let file = std::fs::File::create(dir.join(format!("{name}.npz"))).unwrap();
        let mut archive = npz::Writer::new(file);
        if deflated {
            archive = archive.deflated();
        }
        archive.add("a", &turned).unwrap();
        archive.add("b", &b).unwrap();
        archive.add("c", &c).unwrap();
        archive.add("none", &none).unwrap();
        archive.finish().unwrap();
    }
    let storage =
        Sparse::from_sorted(20, 0.0, vec![1, 4, 13, 19], vec![0.5, 1.5, -2.0, 3.0]).unwrap();
    let matrix = Tensor::new([4, 5], storage).unwrap();
    npz::save(dir.join("matrix.sparse.npz"), |archive| archive.add_sparse(&matrix)).unwrap();
    npy::save(twin("matrix"), Tensor::from_vec([4, 5], matrix.to_vec().unwrap()).unwrap()).unwrap();
    let tall = Sparse::from_sorted(140_000, 0.0, vec![4, 139_999], vec![0.5, 3.0]).unwrap();
    let tall = Tensor::new([70_000, 2], tall).unwrap();
    npz::save(dir.join("tall.sparse.npz"), |archive| archive.add_sparse(&tall)).unwrap();
    npy::save(twin("tall"), &tall).unwrap();
    let mut writer = safetensors::Writer::new();
    writer.add("a", &turned).unwrap();
    writer.add("b", &b).unwrap();
    writer.add("c", &c).unwrap();
    writer.add("none", &none).unwrap();
    writer.note("format", "lensor");
    writer.save(dir.join("all.safetensors")).unwrap();
    let large = tensor(&[10, 7, 5], |k| (k * k % 101) as f32);
    for (name, options) in [
        ("plain", Options::new([4, 3, 5])),
        ("zstd", Options::new([4, 3, 2]).zstd(3).crc32c()),
        ("gzip", Options::new([4, 3, 2]).gzip(5).transposed(&[2, 0, 1])),
        ("big", Options::new([16, 8, 8]).byte_order(ByteOrder::Big)),
        (
            "shards",
            Options::new([2, 2, 2]).shards([4, 4, 6]).zstd(1).names(["t", "y", "x"]).fill(f32::NAN),
        ),
    ] {
        npy::save(twin(name), &large).unwrap();
        zarr::write(dir.join(format!("{name}.zarr")), &large, &options).unwrap();
    }
}
