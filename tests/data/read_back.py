"""Reads files that lensor wrote with the original Python libraries and compares them to their .npy twins.

Usage: python read_back.py DIR    (needs the libraries that make.py names)

    NAME.sparse.npz      scipy.sparse.load_npz, dense, against NAME.npy
    other *.npz          each entry KEY against KEY.npy
    *.safetensors        each tensor KEY against KEY.npy (bfloat16 as float32)
    NAME.zarr            zarr.open against NAME.npy

Shape, type (but for the byte order) and every value have to agree. Prints one line a file; the exit status is 1 if
any file differs, cannot be read or has no twin, or if there is no file at all.
"""
import sys
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import scipy.sparse
import zarr
from safetensors import safe_open


def read(path):
    """The arrays of a file by the name of their twin."""
    stem = path.stem.removesuffix(".sparse")
    if path.name.endswith(".sparse.npz"):
        return {stem: scipy.sparse.load_npz(path).toarray()}
    if path.suffix == ".npz":
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None, "a checksum in the archive is wrong"
        with np.load(path) as arrays:
            return dict(arrays)
    if path.suffix == ".safetensors":
        with safe_open(path, framework="np") as file:
            return {key: file.get_tensor(key) for key in file.keys()}
    array = zarr.open(path, mode="r")
    assert isinstance(array, zarr.Array), "not an array"
    return {stem: np.asarray(array[...])}


def native(array):
    if array.dtype == ml_dtypes.bfloat16:
        array = array.astype(np.float32)
    return array.astype(array.dtype.newbyteorder("="))


def check(path):
    arrays = read(path)
    for name, got in arrays.items():
        want = np.load(path.parent / f"{name}.npy")
        np.testing.assert_array_equal(native(got), native(want), err_msg=name, strict=True)
    return len(arrays)


folder = Path(sys.argv[1])
paths = sorted(p for p in folder.iterdir() if p.suffix in (".npz", ".safetensors", ".zarr"))
failed = not paths
for path in paths:
    try:
        print(f"ok      {path.name} ({check(path)} arrays)")
    except Exception as error:
        failed = True
        print(f"FAILED  {path.name}: {type(error).__name__}: {' '.join(str(error).split())}")
sys.exit(failed)
