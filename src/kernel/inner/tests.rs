//! The checks of addresses against slices, against trying every address.

use super::*;
use crate::kernel::plan::plan;
use crate::kernel::simd::{Simd, level};
use crate::kernel::{AxisPattern, Blocking, Operand, Pattern, Place, Steps, Tile};
use std::mem::MaybeUninit;

/// Rows fit exactly if every address lies in the memory and none is in two rows.
#[test]
fn rows_fit_if_all_their_slots_do() {
    let mut memory = [const { MaybeUninit::<u8>::uninit() }; 9];
    for (len, rows, columns, stride) in all([10, 4, 5, 6]) {
        let slots: Vec<usize> =
            (0..rows).flat_map(|r| (0..columns).map(move |c| r * stride + c)).collect();
        let unique = (1..slots.len()).all(|k| !slots[..k].contains(&slots[k]));
        let fits = unique && slots.iter().all(|&slot| slot < len);
        let found = RowsMut::new(&mut memory[..len], rows, columns, stride);
        // Rows of no columns have no slots, but must begin inside.
        if rows == 0 || columns == 0 {
            assert!(found.is_none() || rows > 0 && (rows - 1) * stride <= len);
            continue;
        }
        let Some(mut found) = found else {
            assert!(!fits, "{len} {rows} {columns} {stride}");
            continue;
        };
        assert!(fits, "{len} {rows} {columns} {stride}");
        for row in 0..rows {
            let slots = found.row(row);
            slots.iter_mut().enumerate().for_each(|(k, slot)| _ = slot.write((row * 10 + k) as u8));
            assert_eq!(slots.len(), columns);
        }
        let follow = rows == 1 || stride == columns;
        let flat = found.flat().map(|mut flat| flat.row(0).len());
        assert_eq!(flat, follow.then_some(rows * columns));
        for (k, &slot) in slots.iter().enumerate() {
            // SAFETY: the slot was written above, in the loop over all rows and columns.
            let value = unsafe { memory[slot].assume_init() };
            assert_eq!(usize::from(value), k / columns * 10 + k % columns);
        }
    }
    assert!(RowsMut::new(&mut memory, usize::MAX, 2, 3).is_none());
    assert!(RowsMut::new(&mut memory, 2, usize::MAX, 1).is_none());
}

/// All quadruples of numbers below `limits`.
fn all(limits: [usize; 4]) -> impl Iterator<Item = (usize, usize, usize, usize)> {
    let [a, b, c, d] = limits;
    (0..a * b * c * d).map(move |k| (k / (b * c * d), k / (c * d) % b, k / d % c, k % d))
}

/// Steps without and with tables.
fn sides() -> Vec<Steps<'static>> {
    let mut sides: Vec<Steps<'_>> =
        [-4, -1, 0, 1, 3].map(|stride| Steps { stride, table: None }).into();
    for table in [&[0, 2, 1, 5], &[3, 3, 0, 1]] {
        sides.extend([-2, 1].map(|stride| Steps { stride, table: Some(table) }));
    }
    sides
}

/// A place is copied if all its addresses lie in the slice, and told with its span otherwise.
#[test]
fn places_are_read_if_all_their_addresses_are_inside() {
    let from: Vec<u16> = (500..520).collect();
    let mut seen = [0; 2];
    for (rows, columns) in [(1, 1), (1, 4), (4, 1), (2, 3), (4, 4)] {
        for base in -1..21 {
            for (down, along) in
                sides().into_iter().flat_map(|a| sides().into_iter().map(move |b| (a, b)))
            {
                let place = Place { base, rows: down, columns: along, relocate: None };
                let addresses: Vec<isize> = (0..rows)
                    .flat_map(|row| (0..columns).map(move |column| place.at(row, column)))
                    .collect();
                let low = addresses.iter().copied().min().unwrap();
                let high = addresses.iter().copied().max().unwrap();
                assert_eq!(span(&place, rows, columns), (low as i128, high as i128), "{place:?}");
                let mut out = vec![MaybeUninit::uninit(); rows * columns];
                let mut to = RowsMut::new(&mut out, rows, columns, columns).unwrap();
                let packed = pack(&from, &place, &mut to);
                if low < 0 || high >= 20 {
                    let span = usize::try_from(low).unwrap_or(0)..(high + 1).max(0) as usize;
                    assert_eq!(packed, Err(Error::OutOfSpan { span, len: 20 }), "{place:?}");
                    seen[1] += 1;
                    continue;
                }
                seen[0] += 1;
                assert_eq!(packed, Ok(()), "{place:?}");
                for (slot, address) in out.iter().zip(addresses) {
                    // SAFETY: packing returned `Ok`, so all slots were written.
                    assert_eq!(unsafe { slot.assume_init() }, 500 + address as u16, "{place:?}");
                }
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 1000), "{seen:?}");
}

/// The errors of spans keep to numbers of elements.
#[test]
fn spans_in_errors_are_those_that_exist() {
    let found = |low, high| match out_of_span(low, high, 7) {
        Error::OutOfSpan { span, len: 7 } => span,
        other => panic!("{other}"),
    };
    assert_eq!(found(3, 9), 3..10);
    assert_eq!(found(-4, 2), 0..3);
    assert_eq!(found(-4, -3), 0..0);
    assert_eq!(found(-4, i128::from(u64::MAX)), 0..usize::MAX);
}

/// Slots for an output that is written in order.
fn whole(slots: &mut [MaybeUninit<u64>], bases: [isize; 2]) -> Result<(), Error> {
    let [base, stride] = bases;
    let axes = [AxisPattern { stride, pattern: Pattern::Linear }].into_iter().collect();
    let operand = Operand { base, axes, relocate: None, supply: crate::kernel::Supply::Memory };
    let blocking = Blocking::SCRATCH;
    let plan = plan(&[5], &[operand], blocking)?;
    let target = Target::new(Output::new(slots));
    plan.nests.iter().try_for_each(|nest| target.check(nest, &plan.tables))
}

/// A target takes a nest if all addresses lie in it.
#[test]
fn targets_hold_every_address() {
    let mut slots = [const { MaybeUninit::<u64>::uninit() }; 10];
    for base in -3..14 {
        for stride in [-3, -1, 0, 1, 2, 3] {
            let (low, high) = (base + (4 * stride).min(0), base + (4 * stride).max(0));
            let inside = low >= 0 && high < 10;
            let expected =
                if inside { Ok(()) } else { Err(out_of_span(low as i128, high as i128, 10)) };
            assert_eq!(whole(&mut slots, [base, stride]), expected, "{base} {stride}");
        }
    }
}

/// Rows that are written past the caches are held against the slice as others are.
#[test]
fn streamed_rows_read_inside_their_slice() {
    let from: Vec<u64> = (0..1000).collect();
    let (rows, columns, step) = (3_usize, 100_usize, 150_isize);
    let along = |stride| Steps { stride, table: None };
    for base in [-401, -101, -1, 0, 7, 600, 601, 751, 901, 5000, isize::MAX - 50] {
        let place = Place { base, rows: along(step), columns: along(1), relocate: None };
        let (low, high) = (base as i128, base as i128 + 399);
        for (stream, packed) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut slots = [const { MaybeUninit::<u64>::uninit() }; 300];
            let target = Target::new(Output::new(&mut slots));
            let to = Place { base: 0, rows: along(100), columns: along(1), relocate: None };
            let tile = Tile { rows, columns, dense: false, places: &[to] };
            // SAFETY: all rows lie in the slots, and there is no other destination.
            let mut dest = unsafe { target.dest(&tile, stream) };
            let done = if packed {
                pack_streaming(&from, &place, &mut dest)
            } else {
                copy_rows(&from, &place, &mut dest)
            };
            if packed && level() == Simd::Baseline {
                assert_eq!(done, None);
                continue;
            }
            let inside = low >= 0 && high < 1000;
            let outside =
                (0..3).map(|row| low + 150 * row).find(|&row| row < 0 || row + 99 >= 1000);
            let expected = match outside {
                None => Ok(()),
                Some(row) if stream && !packed => Err(out_of_span(row, row + 99, 1000)),
                Some(_) => Err(out_of_span(low, high, 1000)),
            };
            assert_eq!(
                (done, inside),
                (Some(expected), outside.is_none()),
                "{base} {stream} {packed}"
            );
            for (k, slot) in slots.iter().enumerate().filter(|_| inside) {
                // SAFETY: all rows were written, as the result is `Ok`.
                let value = unsafe { slot.assume_init() };
                assert_eq!(value as usize, base as usize + k / 100 * 150 + k % 100);
            }
        }
    }
}

/// Places whose rows lie beside one another, forwards or backwards, are transposed in squares: elements of 2 to 16 bytes.
#[test]
fn squares_are_turned_either_way() {
    fn check<T: Copy + PartialEq + std::fmt::Debug>(element: impl Fn(usize) -> T) {
        for (across, along) in [(1, 70), (-1, 70), (1, -600), (-1, 600), (-1, -600), (-1, 2100)] {
            for (rows, columns) in [(65, 37), (8, 8), (4, 5), (7, 64)] {
                let reach = |stride: isize, count: usize| stride * (count as isize - 1);
                let (down, right) = (reach(across, rows), reach(along, columns));
                let base = -(down.min(0) + right.min(0));
                let len = (base + down.max(0) + right.max(0) + 1) as usize;
                let from: Vec<T> = (0..len).map(&element).collect();
                let steps = |stride| Steps { stride, table: None };
                let (rows_of, columns_of) = (steps(across), steps(along));
                let place = Place { base, rows: rows_of, columns: columns_of, relocate: None };
                let mut out = vec![element(0); rows * columns];
                let mut rows_mut = RowsMut::new(slots(&mut out), rows, columns, columns).unwrap();
                pack(&from, &place, &mut rows_mut).unwrap();
                for (k, found) in out.iter().enumerate() {
                    let (row, column) = ((k / columns) as isize, (k % columns) as isize);
                    let address = base + across * row + along * column;
                    assert_eq!(*found, from[address as usize], "{across} {along} {row} {column}");
                }
            }
        }
    }
    check(|k| k as u16);
    check(|k| k as u32);
    check(|k| k as u64);
    check(|k| [k as u64; 2]);
}
