//! Loops that many reducers share: a run in lanes, columns a few rows at a time.

/// Accumulators that a run is dealt out to, element by element: enough for the latency of an addition.
pub(super) const LANES: usize = 32;

/// Folds a run of at least one element in [`LANES`] lanes, which are joined in pairs.
#[inline(always)]
pub(super) fn in_lanes<T: Copy, A: Copy>(
    run: &[T],
    first: impl Fn(T) -> A,
    step: impl Fn(A, T) -> A,
    join: impl Fn(A, A) -> A,
) -> A {
    let Some((head, rest)) = run.split_first_chunk::<LANES>() else {
        let start = first(run[0]);
        return run[1..].iter().fold(start, |state, &x| step(state, x));
    };
    let mut lanes = [first(head[0]); LANES];
    for k in 0..LANES {
        lanes[k] = first(head[k]);
    }
    let (chunks, tail) = rest.as_chunks::<LANES>();
    for chunk in chunks {
        for k in 0..LANES {
            lanes[k] = step(lanes[k], chunk[k]);
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(tail) {
        *lane = step(*lane, x);
    }
    let mut width = LANES / 2;
    while width > 0 {
        for k in 0..width {
            lanes[k] = join(lanes[k], lanes[k + width]);
        }
        width /= 2;
    }
    lanes[0]
}

/// Folds columns: `first` of the first row, then eight rows a pass, joined in pairs by `join`.
#[inline(always)]
pub(super) fn in_columns<T: Copy, A: Copy>(
    rows: &[&[T]],
    out: &mut Vec<A>,
    first: impl Fn(T) -> A,
    join: impl Fn(A, A) -> A,
) {
    let width = rows[0].len();
    out.clear();
    let (eights, rest) = rows.as_chunks::<8>();
    for rows in eights {
        let [a, b, c, d, e, f, g, h] = rows.map(|row| &row[..width]);
        let eight = |k: usize| {
            let low = join(join(first(a[k]), first(b[k])), join(first(c[k]), first(d[k])));
            let high = join(join(first(e[k]), first(f[k])), join(first(g[k]), first(h[k])));
            join(low, high)
        };
        if out.is_empty() {
            out.extend((0..width).map(eight));
        } else {
            let out = &mut out[..width];
            for k in 0..width {
                out[k] = join(out[k], eight(k));
            }
        }
    }
    for row in rest {
        let row = &row[..width];
        if out.is_empty() {
            out.extend(row.iter().map(|&x| first(x)));
        } else {
            let out = &mut out[..width];
            for k in 0..width {
                out[k] = join(out[k], first(row[k]));
            }
        }
    }
}
