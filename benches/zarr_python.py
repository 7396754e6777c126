"""The rows of the bench `zarr` in zarr-python and NumPy: `python3 benches/zarr_python.py [--quick]`.

Times are medians; an array is opened anew each time, and is in the page cache. zarr-python decodes chunks in threads of its
own.
"""

import statistics
import tempfile

from peers import QUICK, needed, seconds

np, zarr = needed("numpy"), needed("zarr")

ROUNDS = 3 if QUICK else 9
SIDE, CHUNK = (1024 if QUICK else 4096), 512


def row(name, run):
    run()
    median = statistics.median(seconds(run) for _ in range(ROUNDS))
    print(f"{name:<32} {median * 1e3:9.3f} ms")


def main():
    print(f"zarr {zarr.__version__}, NumPy {np.__version__}")
    data = (np.arange(SIDE * SIDE, dtype=float) % 1009).reshape(SIDE, SIDE)
    with tempfile.TemporaryDirectory() as folder:
        for name, codecs in [("raw", None), ("zstd", zarr.codecs.ZstdCodec(level=1))]:
            path = f"{folder}/{name}"
            array = zarr.create_array(
                path, shape=data.shape, chunks=(CHUNK, CHUNK), dtype="f8", compressors=codecs
            )
            array[:] = data
            assert zarr.open(path, mode="r")[:].sum() == data.sum()
            row(f"sum: {name}", lambda: zarr.open(path, mode="r")[:].sum())
            row(f"copy: {name}", lambda: np.array(zarr.open(path, mode="r")[:]))
            row(f"transposed: {name}", lambda: np.ascontiguousarray(zarr.open(path, mode="r")[:].T))
    row("sum: memory", data.sum)
    row("copy: memory", data.copy)
    row("transposed: memory", lambda: np.ascontiguousarray(data.T))


main()
