//! Networks that sort what registers hold, lane by lane and across lanes.
//!
//! Registers are `K` in an array named by the caller, a power of two up to 16, of `LANES` keys each. First
//! every lane is sorted by itself, by the networks with the fewest exchanges that are known. Lanes are then
//! merged two by two by Batcher's bitonic network: key `i` of lane `l` is number `l * K + i`, so most exchanges
//! are minima and maxima of whole registers. At last lanes become registers.

/// Puts pairs of registers in order, lane by lane.
macro_rules! exchanges {
    ($min:ident $max:ident $r:ident; $($a:literal $b:literal),+) => { $(
        ($r[$a], $r[$b]) = ($min($r[$a], $r[$b]), $max($r[$a], $r[$b]));
    )+ };
}

/// Sorts every lane by itself.
macro_rules! sort_lanes {
    ($min:ident $max:ident $r:ident) => {
        if K == 16 {
            exchanges! { $min $max $r;
                0 13, 1 12, 2 15, 3 14, 4 8, 5 6, 7 11, 9 10, 0 5, 1 7, 2 9, 3 4, 6 13, 8 14, 10 15, 11 12,
                0 1, 2 3, 4 5, 6 8, 7 9, 10 11, 12 13, 14 15, 0 2, 1 3, 4 10, 5 11, 6 7, 8 9, 12 14, 13 15,
                1 2, 3 12, 4 6, 5 7, 8 10, 9 11, 13 14, 1 4, 2 6, 5 8, 7 10, 9 13, 11 14, 2 4, 3 6, 9 12,
                11 13, 3 5, 6 8, 7 9, 10 12, 3 4, 5 6, 7 8, 9 10, 11 12, 6 7, 8 9
            }
        } else if K == 8 {
            exchanges! { $min $max $r;
                0 2, 1 3, 4 6, 5 7, 0 4, 1 5, 2 6, 3 7, 0 1, 2 3, 4 5, 6 7, 2 4, 3 5, 1 4, 3 6, 1 2, 3 4, 5 6
            }
        } else if K == 4 {
            exchanges! { $min $max $r; 0 2, 1 3, 0 1, 2 3, 1 2 }
        } else if K == 2 {
            exchanges! { $min $max $r; 0 1 }
        }
    };
}

/// Merges groups of neighbouring lanes two by two. Lane `l` meets lane `l ^ $flip` with its registers backwards,
/// then lane `l ^ $inside` for each of these, then registers meet each other.
macro_rules! merge_lanes {
    ($permute:ident $min:ident $max:ident $mask_max:ident $Key:ident $uppers:ident $r:ident;
        $flip:literal $($inside:literal)*) => {
        {
            let (partners, upper) = partners!($Key $uppers $flip);
            if K == 1 {
                let (own, other) = ($r[0], $permute(partners, $r[0]));
                $r[0] = $mask_max($min(own, other), upper, own, other);
            }
            for k in 0..K / 2 {
                let (a, b) = ($r[k], $r[K - 1 - k]);
                let (from_a, from_b) = ($permute(partners, a), $permute(partners, b));
                $r[k] = $mask_max($min(a, from_b), upper, a, from_b);
                $r[K - 1 - k] = $mask_max($min(b, from_a), upper, b, from_a);
            }
        }
        $({
            let (partners, upper) = partners!($Key $uppers $inside);
            for k in 0..K {
                let (own, other) = ($r[k], $permute(partners, $r[k]));
                $r[k] = $mask_max($min(own, other), upper, own, other);
            }
        })*
        pairs! { $r a b => ($min(a, b), $max(a, b)) }
    };
}

/// The lanes that lanes meet, and a mask of those that come after theirs.
macro_rules! partners {
    ($Key:ident $uppers:ident $with:literal) => {{
        const WITH: usize = $with % LANES;
        let partners: [$Key; LANES] = std::array::from_fn(|lane| (lane ^ WITH) as $Key);
        (bytemuck::cast(partners), $uppers[WITH.ilog2() as usize])
    }};
}

/// Replaces pairs of registers whose numbers differ in one bit, from the highest bit to the lowest.
macro_rules! pairs {
    ($r:ident $a:ident $b:ident => $new:expr) => {
        pairs! { $r $a $b => $new; 8 4 2 1 }
    };
    ($r:ident $a:ident $b:ident => $new:expr; $($bit:literal)+) => { $(
        let bit = $bit;
        if bit < K {
            for k in 0..K / 2 {
                let first = k / bit * 2 * bit + k % bit;
                let second = (first + bit) % K;
                let ($a, $b) = ($r[first], $r[second]);
                ($r[first], $r[second]) = $new;
            }
        }
    )+ };
}

/// Makes registers of lanes: key `i` of lane `l` goes where number `l * K + i` belongs. Lanes of two registers
/// are interleaved, which makes a bit of the register's number the lowest one of the lane's, and the highest
/// bit of the lane's takes its place.
macro_rules! turn_lanes {
    ($permute2:ident $Key:ident $r:ident) => {
        let low: [$Key; LANES] = std::array::from_fn(|k| (k / 2 + k % 2 * LANES) as $Key);
        let high = bytemuck::cast(low.map(|lane| lane + LANES as $Key / 2));
        let low = bytemuck::cast(low);
        pairs! { $r a b => ($permute2(a, low, b), $permute2(a, high, b)) }
    };
}

pub(super) use {exchanges, merge_lanes, pairs, partners, sort_lanes, turn_lanes};
