"""Writes the npz, SciPy sparse, safetensors and zarr fixtures of this directory.

Usage: python make.py

The folders npz/, safetensors/ and zarr/ next to this file are removed and written anew. Every array also has a
twin in NumPy's .npy format, which holds the values a reader has to return. The values are seeded, so a second run
with the same versions writes the same bytes; another version of a compressor may write other bytes that decode to
the same values.

Needs NumPy >= 2, SciPy, safetensors, ml_dtypes and zarr >= 3 (with its dependency numcodecs). Made with
Python 3.11, NumPy 2.4.6, SciPy 1.17.1, safetensors 0.8.0, ml_dtypes 0.6.0, zarr 3.1.6, numcodecs 0.16.6.
"""
import json
import shutil
import struct
import zipfile
from pathlib import Path

import ml_dtypes
import numcodecs
import numpy as np
import scipy.sparse
import zarr
from safetensors.numpy import save_file
from zarr.codecs import BytesCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec

HERE = Path(__file__).resolve().parent
NPZ, SAFETENSORS, ZARR = (HERE / name for name in ("npz", "safetensors", "zarr"))
RNG = np.random.default_rng(20240607)


def values(dtype, *shape):
    """Seeded values that every numeric type here holds exactly: small integers, quarters for floats."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return RNG.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "u":
        return RNG.integers(0, 200, shape).astype(dtype)
    i = np.asarray(RNG.integers(-100, 100, shape))
    return np.asarray(i / 4 if dtype.kind == "f" else i).astype(dtype)


def twins(folder, arrays):
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


# ---- npz ----


def write_zip(name, arrays, force_zip64):
    """An npz archive written entry by entry, stored, with or without zip64 fields in the local headers."""
    with zipfile.ZipFile(NPZ / name, "w") as archive:
        for key, array in arrays.items():
            entry = zipfile.ZipInfo(f"{key}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            with archive.open(entry, "w", force_zip64=force_zip64) as f:
                np.lib.format.write_array(f, array)


def make_npz():
    arrays = {
        "a": values("<f8", 3, 4),
        "b": np.asfortranarray(values("<i2", 4, 5)),
        "c": values("?", 7),
        "scalar": values("<f4"),
        "empty": values("u1", 0, 3),
        "big": values(">i4", 2, 3),
    }
    twins(NPZ, arrays)
    np.savez(NPZ / "stored.npz", **arrays)
    np.savez_compressed(NPZ / "deflated.npz", **arrays)

    two = {key: arrays[key] for key in "ab"}
    write_zip("zip64.npz", two, force_zip64=True)
    # np.savez forces zip64 too; this is the archive without any zip64 field.
    write_zip("zip32.npz", two, force_zip64=False)
    # With a limit of 0 bytes, zip64 is also used in the central directory and at the end of the archive.
    limit, zipfile.ZIP64_LIMIT = zipfile.ZIP64_LIMIT, 0
    write_zip("zip64_central.npz", two, force_zip64=True)
    zipfile.ZIP64_LIMIT = limit

    text = {"text": np.array(["ab", "cdefg", "", "é€"], dtype="<U5"), "x": values("<f4", 2, 2)}
    twins(NPZ, text)
    np.savez(NPZ / "text.npz", **text)


def make_sparse():
    # Row 2 and column 4 have no entries.
    row = [0, 0, 0, 1, 1, 3, 3, 3, 4, 5, 5, 5]
    col = [1, 5, 8, 0, 7, 2, 3, 6, 5, 0, 1, 8]
    matrix = scipy.sparse.coo_array((RNG.permutation(np.arange(1, 13)) / 4, (row, col)), shape=(6, 9))
    np.save(NPZ / "matrix.npy", matrix.toarray())
    scipy.sparse.save_npz(NPZ / "csr.npz", matrix.tocsr(), compressed=False)
    # An older matrix class: no `_is_array` entry. Made from dense data, it has int32 indices; the others have int64.
    scipy.sparse.save_npz(NPZ / "csc.npz", scipy.sparse.csc_matrix(matrix.toarray()), compressed=True)
    scipy.sparse.save_npz(NPZ / "coo.npz", matrix, compressed=True)


# ---- safetensors ----


def make_safetensors():
    arrays = {
        "w": values("<f4", 3, 4),
        "h": values("<f2", 5),
        "i": values("<i8", 2, 2, 2),
        "m": values("?", 6),
        "u": values("u1", 3),
        "z": values("<f8", 0, 4),
        "s": values("<f8"),
    }
    twins(SAFETENSORS, arrays)
    plain = SAFETENSORS / "plain.safetensors"
    metadata = {"format": "lensor", "note": "made by safetensors"}
    # The library writes the metadata in hash order, which differs from call to call: repeat until it is this order.
    while not plain.exists() or b'{"__metadata__":{"format"' not in plain.read_bytes():
        save_file(arrays, plain, metadata)

    # By hand: three bytes, then f64 data, so that no element of it is aligned. The library only writes files that
    # start with the widest type, but it reads this one.
    bytes3, double = values("u1", 3), values("<f8", 2, 3)
    header = {
        "bytes": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]},
        "double": {"dtype": "F64", "shape": [2, 3], "data_offsets": [3, 51]},
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    assert (8 + len(text) + 3) % 8 != 0, "the f64 data must not be aligned"
    data = bytes3.tobytes() + double.tobytes()
    (SAFETENSORS / "unaligned.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    twins(SAFETENSORS, {"bytes": bytes3, "double": double})

    # The twin is f32, which holds every bfloat16 exactly. The largest finite, the smallest normal and the smallest
    # subnormal value are among these.
    tiny = [3.3895313892515355e38, 2.0**-126, 2.0**-133, -0.0]
    bf16 = np.array([0, 1, -2.5, 3.140625, *tiny, np.inf, -np.inf, np.nan, 256], np.float32).reshape(3, 4)
    rounded = bf16.astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(rounded.astype(np.float32), bf16)
    save_file({"bf16": rounded}, SAFETENSORS / "bf16.safetensors")
    np.save(SAFETENSORS / "bf16.npy", bf16)


# ---- zarr ----


def write_zarr(path, data, chunks, **options):
    """One zarr v3 array (uncompressed unless `options` say otherwise) and its twin."""
    options = {"compressors": None, "filters": None, "fill_value": 0, **options}
    array = zarr.create_array(
        ZARR / path, shape=data.shape, dtype=data.dtype, chunks=chunks, overwrite=True, **options
    )
    array[...] = data
    np.save(ZARR / f"{path.replace('/', '_')}.npy", data)


def write_partly(path, shape, chunk, fill, corners):
    """A float64 array of which only the chunks at these corners are written."""
    array = zarr.create_array(
        ZARR / path, shape=shape, dtype="<f8", chunks=chunk, compressors=None, fill_value=fill, overwrite=True
    )
    data = np.full(shape, fill)
    for i, j in corners:
        part = slice(i, i + chunk[0]), slice(j, j + chunk[1])
        data[part] = values("<f8", *chunk)
        array[part] = data[part]
    np.save(ZARR / f"{path}.npy", data)


def make_zarr():
    write_zarr("plain", values("<f8", 10, 7), (4, 3))
    write_zarr("gzip", values("<i4", 10, 7), (4, 3), compressors=GzipCodec(level=5))
    # The gzip header holds the time of writing (bytes 4 to 7, in no checksum): set to 0, "no time stamp".
    for path in (ZARR / "gzip/c").glob("*/*"):
        chunk = path.read_bytes()
        path.write_bytes(chunk[:4] + bytes(4) + chunk[8:])
    write_zarr("zstd", values("<f4", 9, 8, 5), (4, 4, 4), compressors=[ZstdCodec(level=3), Crc32cCodec()])
    write_zarr("big_endian", values("<i2", 5, 6), (3, 4), serializer=BytesCodec(endian="big"))
    write_zarr("transposed", values("<f8", 5, 6), (3, 4), filters=TransposeCodec(order=(1, 0)))

    # The shard at the top right holds nothing, so it has no file; one inner chunk of the shard at the top left is
    # missing in the index of that shard.
    sharded = values("<u2", 16, 16) + np.uint16(1)
    sharded[4:8, 0:4] = 0
    sharded[0:8, 8:16] = 0
    write_zarr("sharded", sharded, (4, 4), shards=(8, 8), compressors=ZstdCodec(level=3))

    write_partly("missing", (10, 10), (5, 5), 7.5, [(0, 0), (5, 5)])
    write_partly("nan_fill", (6, 6), (3, 3), np.nan, [(3, 0)])

    write_zarr("bool", values("?", 9), (4,), fill_value=False)
    write_zarr("scalar", np.array(2.75), ())
    write_zarr(
        "named", values("<f8", 4, 6), (2, 3), dimension_names=["t", "x"], attributes={"units": "K", "answer": 42}
    )

    # The twins are group_first.npy, group_second.npy and group_nested_third.npy.
    zarr.create_group(ZARR / "group", zarr_format=3, overwrite=True, attributes={"title": "two arrays and a group"})
    zarr.create_group(ZARR / "group/nested", zarr_format=3, overwrite=True)
    write_zarr("group/first", values("<f8", 3, 4), (2, 2))
    write_zarr("group/second", values("<i4", 5), (3,), compressors="auto")
    write_zarr("group/nested/third", values("u1", 2, 2), (2, 2))

    write_zarr("v2", values("<i4", 5, 6), (3, 4), zarr_format=2, compressors=numcodecs.Zlib(level=1))


for folder in (NPZ, SAFETENSORS, ZARR):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
make_npz()
make_sparse()
make_safetensors()
make_zarr()
