"""Copies, transposes and sums of the bench `storage` in zarr-python and blosc2: `python3 benches/storage.py [--quick]`.

2048 x 2048 numbers in blocks of 256 x 256 in memory, as they are and packed by LZ4. Times are medians on one thread, where
the library lets itself be told; ratios are to NumPy on memory, interleaved.
"""

import statistics

from peers import QUICK, needed, optional, seconds

np, zarr, blosc2 = needed("numpy"), optional("zarr"), optional("blosc2")

ROUNDS = 3 if QUICK else 11
SIDE, BLOCK = (512 if QUICK else 2048), 256


def rows(name, array, data):
    """Times what reads all of an array and has it in memory, or its sum over axis 1."""
    assert (array[:] == data).all()
    for what, of in [
        ("copy", lambda x: np.array(x[:])),
        ("transpose", lambda x: np.ascontiguousarray(x[:].T)),
        ("sum 1", lambda x: x[:].sum(axis=1)),
    ]:
        own, memory = [], []
        for _ in range(ROUNDS + 1):
            own.append(seconds(lambda: of(array)))
            memory.append(seconds(lambda: of(data)))
        own, memory = statistics.median(own[1:]), statistics.median(memory[1:])
        print(f"{name + ': ' + what:<32} {own * 1e3:9.3f} ms  {own / memory:6.2f} of memory")


def main():
    i = np.arange(SIDE * SIDE, dtype=np.int64)
    data = ((i * 7919) % 4093).astype(float).reshape(SIDE, SIDE)
    if zarr is not None:
        zarr.config.set({"async.concurrency": 1, "threading.max_workers": 1})
        lz4 = zarr.codecs.BloscCodec(cname="lz4", clevel=1, shuffle="noshuffle")
        for name, codec in [("raw", None), ("lz4", lz4)]:
            array = zarr.create_array(
                zarr.storage.MemoryStore(),
                shape=data.shape,
                chunks=(BLOCK, BLOCK),
                dtype="f8",
                compressors=codec,
            )
            array[:] = data
            rows(f"zarr {zarr.__version__} {name}", array, data)
    if blosc2 is not None:
        blosc2.set_nthreads(1)
        for name, level in [("raw", 0), ("lz4", 1)]:
            settings = {"codec": blosc2.Codec.LZ4, "clevel": level, "nthreads": 1}
            array = blosc2.asarray(
                data, chunks=(BLOCK, BLOCK), cparams=settings, dparams={"nthreads": 1}
            )
            rows(f"blosc2 {blosc2.__version__} {name}", array, data)


main()
