//! Any tables of rows, any chain of views, over storage that may lie: values or errors, and no panic. With the truth, a
//! row's sum is that of its elements.
#![no_main]

use lensor::lanes::SortOrder;
use lensor::prelude::*;
use lensor::ragged::{self, ElementwiseRagged, LanesRagged, Offsets, Ragged, ReduceRagged};
use lensor::{Reader, StorageError};
use libfuzzer_sys::arbitrary::{self, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Storage that is as it says, or shrinks, fails, or shows less memory, as a byte decides.
#[derive(Debug)]
struct Doubtful {
    data: Vec<i64>,
    lie: u8,
    looks: AtomicUsize,
}

impl Doubtful {
    fn lies(&self) -> bool {
        self.lie > 0 && self.looks.fetch_add(1, Relaxed).is_multiple_of(usize::from(self.lie))
    }
}

impl Reader for Doubtful {
    type Elem = i64;

    fn len(&self) -> usize {
        if self.lies() { self.data.len() / 2 } else { self.data.len() }
    }

    fn read(&self, address: usize) -> i64 {
        self.data.get(address).copied().unwrap_or(-1)
    }

    fn try_read(&self, address: usize) -> Result<i64, StorageError> {
        if self.lies() {
            return Err(StorageError::new(address, "doubtful"));
        }
        self.data.get(address).copied().ok_or_else(|| StorageError::new(address, "beyond"))
    }

    fn as_slice(&self) -> Option<&[i64]> {
        match self.lie % 3 {
            0 if self.lies() => self.data.get(..self.data.len() / 2),
            0 => Some(&self.data),
            _ => None,
        }
    }
}

fn numbers(bytes: &mut Unstructured<'_>, count: usize, most: usize) -> arbitrary::Result<Vec<i64>> {
    let mut last = 0;
    (0..count)
        .map(|_| {
            // Mostly such as ascend.
            let step = bytes.int_in_range(-1..=4)?;
            last = (last + step).min(most as i64);
            Ok(last)
        })
        .collect()
}

fn made(bytes: &mut Unstructured<'_>) -> arbitrary::Result<lensor::Result<Ragged<Doubtful>>> {
    let (items, width) = (bytes.int_in_range(0..=40)?, bytes.int_in_range(0..=2)?);
    let data = (0..(items * width.max(1)) as i64).collect();
    let storage = Doubtful { data, lie: bytes.arbitrary()?, looks: AtomicUsize::new(0) };
    let shape = if width == 0 { vec![items] } else { vec![items, width] };
    let content = match Tensor::new(shape, storage) {
        Ok(content) => content,
        Err(error) => return Ok(Err(error)),
    };
    let rows = bytes.int_in_range(0..=6)?;
    let made = if bytes.ratio(1, 3)? {
        let starts = (0..rows).map(|_| bytes.int_in_range(0..=items)).collect::<Result<_, _>>()?;
        let lens = (0..rows).map(|_| bytes.int_in_range(0..=9)).collect::<Result<_, _>>()?;
        Ragged::from_views([rows], starts, lens, bytes.int_in_range(-2..=2)?, content)
    } else {
        let table = numbers(bytes, rows + 1, items)?;
        Offsets::new(table).and_then(|table| Ragged::new([rows], table, content))
    };
    let outer = bytes.int_in_range(0..=3)?;
    let table = numbers(bytes, outer + 1, rows)?;
    let nests = bytes.ratio(1, 3)?;
    Ok(made.and_then(|r| match nests {
        true => r.nest([outer], Offsets::new(table)?),
        false => Ok(r),
    }))
}

fn viewed<S: Reader<Elem = i64>>(
    bytes: &mut Unstructured<'_>,
    r: Ragged<S>,
) -> arbitrary::Result<lensor::Result<Ragged<S>>> {
    let (rank, axis) = (r.rank(), bytes.int_in_range(0..=3)?);
    let (a, b) = (bytes.int_in_range(-3..=6_isize)?, bytes.int_in_range(-3..=6_isize)?);
    let range = Select::between(Some(a), Some(b), bytes.int_in_range(-2..=2)?);
    let mut selectors = vec![Select::All; axis];
    Ok(match bytes.int_in_range(0..=9)? {
        0 => r.flip(axis),
        1 => r.rotate(vec![a; rank]),
        2 => r.clip(axis, range),
        3 => r.flatten(axis),
        4 => r.as_fixed(axis),
        5 => r.swap_axes(axis, axis + 1),
        6 => {
            selectors.push(Select::Index(a));
            r.select(selectors)
        }
        7 => {
            selectors.push(Select::List(vec![a.unsigned_abs(), b.unsigned_abs()]));
            r.select(selectors)
        }
        8 => {
            let mask = r.view().greater(3).eval();
            mask.and_then(|mask| r.keep(axis, mask))
        }
        _ => {
            selectors.push(range);
            r.select(selectors)
        }
    })
}

fuzz_target!(|data: &[u8]| {
    let mut bytes = Unstructured::new(data);
    let _ = run(&mut bytes);
});

fn run(bytes: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let Ok(mut r) = made(bytes)? else { return Ok(()) };
    let honest = r.content().storage().lie == 0;
    for _ in 0..bytes.int_in_range(0..=4)? {
        match viewed(bytes, r)? {
            Ok(view) => r = view,
            Err(_) => return Ok(()),
        }
    }
    let (axis, other) = (bytes.int_in_range(0..=3)?, made(bytes)?);
    let _ = (r.to_string(), format!("{r:?}"), r.form());
    let copy = r.view().map(|x| x).eval();
    if honest {
        let copy = copy.as_ref().expect("the truth");
        assert_eq!(copy.to_vec().expect("memory"), r.to_vec().expect("the truth"));
        let sum: i64 = copy.to_vec().expect("memory").iter().sum();
        assert_eq!(r.sum(..).eval().and_then(|sum| sum.to_vec()).ok(), Some(vec![sum]));
    }
    let _ = r.sum(axis).eval();
    let _ = r.max(axis).or(0).keepdims().eval();
    let _ = r.argmin(axis).eval();
    let _ = r.cumsum(axis).eval();
    let _ = r.sort(axis, SortOrder::Descending).eval();
    let _ = r.arg_top_k(axis, 2, SortOrder::Ascending).eval();
    let _ = r.mask(axis).map(|mask| mask.to_vec());
    if let Ok(other) = other {
        let _ = (&r + &other).eval();
        let _ = (&r * 2 - &other).sum(axis).eval();
        let _ = ragged::concat(axis, [r.view(), other.view()]).map(|all| all.to_vec());
        if let Ok(mut copy) = copy {
            let _ = copy.assign(&other);
            let _ = copy.try_add_assign(&r);
        }
    }
    let _ = r.padded(axis, None, -1).map(|padded| padded.to_vec());
    Ok(())
}
