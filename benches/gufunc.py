"""The rows of the bench `gufunc` in NumPy and SciPy: `python3 benches/gufunc.py [--quick]`.

Times are medians on one thread; ratios are to copying as many bytes in the same round, as in the bench.
"""

import statistics

from peers import QUICK, needed, optional, part, seconds

np, distance = needed("numpy"), optional("scipy.spatial.distance")

ROUNDS = 3 if QUICK else 15


def row(name, size, run):
    """Prints milliseconds and the ratio to memcpy of `size` bytes, half of them read."""
    source, target = np.ones(size // 16), np.empty(size // 16)
    run()
    rounds = [(seconds(lambda: np.copyto(target, source)), seconds(run)) for _ in range(ROUNDS)]
    ratio = statistics.median(own / copy for copy, own in rounds)
    print(f"{name:<42} {statistics.median(own for _, own in rounds) * 1e3:9.3f} ms {ratio:7.2f} x")


def each(name, count, run, repeats=1):
    """Prints nanoseconds of each of `count`."""
    run()
    median = statistics.median(seconds(run, repeats) for _ in range(ROUNDS))
    print(f"{name:<42} {median * 1e9 / count:9.2f} ns")


def quarters(count, seed):
    return ((np.arange(count) * 7 + seed) % 1009) * 0.25


def main():
    print(f"NumPy {np.__version__}")
    count = part(200_000)
    a, b = (quarters(count * 64, seed).reshape(count, 64) for seed in (1, 5))
    out = np.empty(count)
    size = 8 * (2 * 64 + 1) * count
    row("inner1d, [200000, 64]", size, lambda: np.einsum("ij,ij->i", a, b, out=out))
    if hasattr(np, "vecdot"):
        row("inner1d, [200000, 64], vecdot", size, lambda: np.vecdot(a, b, out=out))
    x, y = (np.ascontiguousarray(t.T) for t in (a, b))
    row("inner1d, core axis first", size, lambda: np.einsum("ji,ji->i", x, y, out=out))
    noise = np.random.default_rng(1).random((count, 64))
    row("sort, [200000, 64]", 2 * noise.nbytes, lambda: np.sort(noise, axis=1))

    million = part(1_000_000)
    i = np.arange(9 * million)
    matrices = (((i * i * 31 + i * 17) % 97) * 0.125 - 5.0).reshape(million, 3, 3)
    row("det of 1e6 3 x 3", 80 * million, lambda: np.linalg.det(matrices))
    x, y = (quarters(3 * million, seed).reshape(million, 3) for seed in (1, 5))
    row("cross of 1e6", 72 * million, lambda: np.cross(x, y))
    ten = part(10_000_000)
    t = (np.arange(ten) % 2003) / 1001.5 - 1.0
    coefficients = np.array([0.5, -1.0, 2.0, 0.25, -3.0, 1.0])
    row("polyval of degree 5, 1e7", 16 * ten, lambda: np.polyval(coefficients, t))

    count = part(20_000)
    m, n = (quarters(64 * count, seed).reshape(count, 8, 8) for seed in (1, 5))
    out = np.empty_like(m)
    each("matmul of 20000 8 x 8, each", count, lambda: np.matmul(m, n, out=out))
    points = 50 if QUICK else 2000
    p, q = (quarters(3 * points, seed).reshape(points, 3) for seed in (1, 500))
    if distance is None:
        print("SciPy is not installed: no cdist")
    else:
        out = np.empty((points, points))
        each("cdist of 2000 x 2000, d = 3, a result", points * points, lambda: distance.cdist(p, q, out=out))
    a, b, out = np.arange(1.0, 7.0).reshape(2, 3), np.array([1.0, 10.0, 100.0]), np.empty(2)
    inner = getattr(np, "vecdot", None) or np.inner
    repeats = 10 if QUICK else 20_000
    each("a whole call, [2, 3] by [3], eval", 1, lambda: inner(a, b), repeats)
    if inner is not np.inner:
        each("a whole call, [2, 3] by [3], assign_to", 1, lambda: inner(a, b, out=out), repeats)
    each("a whole call, [2, 3] by [3], einsum", 1, lambda: np.einsum("ij,j->i", a, b), repeats)
    # What has no core to speak of is a ufunc there.
    x, y = x.ravel()[:million], y.ravel()[:million]
    out = np.empty(million)
    each("a call, scalars, two in, one out", million, lambda: np.add(x, y, out=out))


main()
