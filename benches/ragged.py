"""The rows of the bench `ragged` in awkward-array, numba and NumPy: `python3 benches/ragged.py [--quick]`.

Times are medians on one thread; ratios are to copying as many bytes in the same round, as in the bench: values, offsets,
columns and results once each. Without awkward-array or numba, their rows are left out.
"""

import statistics

from peers import QUICK, needed, optional, part, seconds

np, ak, numba = needed("numpy"), optional("awkward"), optional("numba")

ROUNDS = 3 if QUICK else 11


def row(name, size, runs):
    """Prints milliseconds and the ratio to memcpy of `size` bytes, half of them read, for each library."""
    source, target = np.ones(size // 16), np.empty(size // 16)
    found = {library: run() for library, run in runs.items()}
    first, *others = found.values()
    assert all(np.array_equal(flat(first), flat(other)) for other in others), name
    for library, run in runs.items():
        rounds = [(seconds(lambda: np.copyto(target, source)), seconds(run)) for _ in range(ROUNDS)]
        ratio = statistics.median(own / copy for copy, own in rounds)
        milliseconds = statistics.median(own for _, own in rounds) * 1e3
        print(f"{name:<32} {library:<8} {milliseconds:9.3f} ms {ratio:7.2f} x")


def flat(found):
    if ak is not None and isinstance(found, ak.Array):
        found = ak.flatten(found, axis=None)
    return np.asarray(found).ravel()


def lengths(rows, mean):
    """As in the bench: from 0 to twice the mean, or to 7."""
    state, limit, found = 0x9E3779B97F4A7C15, 8 if mean == 0 else 2 * mean + 1, []
    for _ in range(rows):
        state ^= state << 13 & 0xFFFFFFFFFFFFFFFF
        state ^= state >> 7
        state ^= state << 17 & 0xFFFFFFFFFFFFFFFF
        found.append((state >> 33) % limit)
    return np.array(found)


def values(count, seed):
    return ((np.arange(count) * 7 + seed) % 1009) * 0.25


def loops():
    """Loops over offsets that numba compiles."""

    @numba.njit
    def add(x, offsets, column, out):
        for row in range(len(column)):
            for k in range(offsets[row], offsets[row + 1]):
                out[k] = x[k] + column[row]
        return out

    @numba.njit
    def sums(x, offsets, out):
        for row in range(len(out)):
            total = 0.0
            for k in range(offsets[row], offsets[row + 1]):
                total += x[k]
            out[row] = total
        return out

    @numba.njit
    def repeat(x, offsets, out):
        for row in range(len(x)):
            for k in range(offsets[row], offsets[row + 1]):
                out[k] = x[row]
        return out

    return add, sums, repeat


def main():
    versions = [f"{m.__name__} {m.__version__}" for m in (np, ak, numba) if m is not None]
    print(", ".join(versions))
    million, some = part(1_000_000), part(100_000)
    compiled = loops() if numba is not None else None

    def ragged(counts, items):
        return ak.unflatten(ak.Array(items), counts)

    for name, rows, mean in [
        ("[1e6, 0..8] + [1e6, 1]", million, 0),
        ("mean 3 + column", million, 3),
        ("mean 100 + column", some, 100),
    ]:
        counts = lengths(rows, mean)
        offsets, items = np.concatenate([[0], np.cumsum(counts)]), int(counts.sum())
        x, column, out, runs = values(items, 1), values(rows, 3), np.empty(items), {}
        if ak is not None:
            r, c = ragged(counts, x), ak.Array(column)
            runs["awkward"] = lambda r=r, c=c: r + c
        if compiled is not None:
            runs["numba"] = lambda x=x, o=offsets, c=column, out=out: compiled[0](x, o, c, out)
        runs["numpy"] = lambda x=x, c=column, n=counts: x + np.repeat(c, n)
        row(name, 2 * 8 * items + 4 * rows + 8 * rows, runs)
    for name, rows, mean in [("row sums, mean 4", million, 4), ("row sums, mean 100", some, 100)]:
        counts = lengths(rows, mean)
        offsets, items, runs = np.concatenate([[0], np.cumsum(counts)]), int(counts.sum()), {}
        x, out = values(items, 1), np.empty(rows)
        if ak is not None:
            r = ragged(counts, x)
            runs["awkward"] = lambda r=r: ak.sum(r, axis=1)
        if compiled is not None:
            runs["numba"] = lambda x=x, o=offsets, out=out: compiled[1](x, o, out)
        row(name, 8 * items + 4 * rows + 8 * rows, runs)
    if ak is not None:
        for name, rows, mean in [
            ("sort f32, mean 4", million, 4),
            ("sort f32, mean 100", some // 2, 100),
        ]:
            counts = lengths(rows, mean)
            items = int(counts.sum())
            r = ragged(counts, (values(items, 1) * 7.0 % 13.0).astype(np.float32))
            row(name, 2 * 4 * items + 4 * rows, {"awkward": lambda r=r: ak.sort(r, axis=1)})
        counts = lengths(million, 8)
        items = int(counts.sum())
        r = ragged(counts, values(items, 1))
        padded = {"awkward": lambda: ak.fill_none(ak.pad_none(r, 16, axis=1, clip=True), 0.0)}
        row("padded to dense, 8 of 16", 8 * items + 4 * million + 8 * 16 * million, padded)
    counts = lengths(million, 4)
    offsets, items = np.concatenate([[0], np.cumsum(counts)]), int(counts.sum())
    x, out = values(million, 1), np.empty(items)
    runs = {"numpy": lambda: np.repeat(x, counts)}
    if compiled is not None:
        runs["numba"] = lambda: compiled[2](x, offsets, out)
    row("repeat by counts, mean 4", 8 * items + (4 + 8) * million, runs)


main()
