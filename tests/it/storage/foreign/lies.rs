//! Storage that lies (failure mode 15): it gives wrong values or errors, never a panic.

use super::kernels::kernels;
use lensor::prelude::*;
use lensor::storage::{Block, Blocks, BlocksMut, Concat, SubBuffer};
use lensor::{AddressMap, StorageError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What a storage lies about. The call counter stands for time.
#[derive(Debug, Clone, Copy)]
enum Lie {
    /// The length shrinks with every question.
    Length,
    /// There is memory, and at the next question none.
    ComesAndGoes,
    /// There is memory, shorter every time.
    Shrinks,
    /// There is memory, much shorter than the length from the start.
    Short,
    /// There is no memory at all.
    Empty,
    /// Memory and reads disagree.
    Disagrees,
    /// Reads disagree with one another.
    Drifts,
}

const LIES: [Lie; 7] = [
    Lie::Length,
    Lie::ComesAndGoes,
    Lie::Shrinks,
    Lie::Short,
    Lie::Empty,
    Lie::Disagrees,
    Lie::Drifts,
];

#[derive(Debug)]
struct Liar {
    lie: Lie,
    data: Vec<i32>,
    calls: AtomicUsize,
}

impl Liar {
    fn new(lie: Lie, len: usize, calls: usize) -> Self {
        Self { lie, data: (1..=len as i32).collect(), calls: AtomicUsize::new(calls) }
    }

    fn now(&self) -> usize {
        self.calls.fetch_add(1, Relaxed)
    }

    /// How much of the memory is shown now.
    fn shown(&self) -> Option<usize> {
        let (len, now) = (self.data.len(), self.now());
        match self.lie {
            Lie::Length | Lie::Disagrees | Lie::Drifts => Some(len),
            Lie::ComesAndGoes => now.is_multiple_of(2).then_some(len),
            Lie::Shrinks => Some(len.saturating_sub(now)),
            Lie::Short => Some(len / 3),
            Lie::Empty => Some(0),
        }
    }
}

impl Reader for Liar {
    type Elem = i32;

    fn len(&self) -> usize {
        match self.lie {
            Lie::Length => self.data.len().saturating_sub(self.now()),
            _ => self.data.len(),
        }
    }

    fn read(&self, address: usize) -> i32 {
        match self.lie {
            Lie::Drifts => self.now() as i32,
            Lie::Disagrees => -1,
            // Even where the address lies outside, as that is what a careful storage would do.
            _ => self.data.get(address).copied().unwrap_or(0),
        }
    }

    fn as_slice(&self) -> Option<&[i32]> {
        if let Lie::Drifts = self.lie {
            return None;
        }
        self.data.get(..self.shown()?)
    }
}

impl Writer for Liar {
    fn write(&mut self, address: usize, value: i32) {
        if let Some(slot) = self.data.get_mut(address) {
            *slot = value;
        }
    }

    fn as_mut_slice(&mut self) -> Option<&mut [i32]> {
        let shown = self.shown()?;
        self.data.get_mut(..shown)
    }
}

/// Small enough to need no plan, large enough for one, and large enough for threads; each with the number
/// of points in time to start from.
const SHAPES: [([usize; 2], usize); 3] = [([4, 6], 4), ([50, 100], 2), ([300, 500], 1)];

/// Runs `f` with every lie, at every shape and from several points in time on; none may panic.
fn with_every_lie(what: &str, f: impl Fn(Liar, [usize; 2])) {
    for lie in LIES {
        for (shape, times) in SHAPES {
            for calls in 0..times {
                let liar = Liar::new(lie, shape[0] * shape[1] + calls, calls);
                let ran = catch_unwind(AssertUnwindSafe(|| f(liar, shape)));
                assert!(ran.is_ok(), "{what}: {lie:?} {shape:?} {calls}");
            }
        }
    }
}

#[test]
fn a_lying_reader_never_panics_a_kernel() {
    for kernel in kernels::<Liar>() {
        with_every_lie(kernel.name, |liar, shape| {
            if let Ok(t) = Tensor::new(shape, liar) {
                let _ = (kernel.run)(&t);
            }
        });
    }
}

#[test]
fn a_lying_reader_below_other_storage_never_panics_a_kernel() {
    // Every kernel above one storage or the other.
    for kernel in kernels::<SubBuffer<Liar>>().into_iter().step_by(2) {
        with_every_lie(kernel.name, |liar, [rows, columns]| {
            let part = SubBuffer::new(liar, 0..rows * columns / 2 * 2);
            if let Some(t) = part.ok().and_then(|part| Tensor::new([rows, columns], part).ok()) {
                let _ = (kernel.run)(&t);
            }
        });
    }
    let others = kernels::<Concat<Box<dyn Reader<Elem = i32>>>>().into_iter();
    for kernel in others.skip(1).step_by(2) {
        with_every_lie(kernel.name, |liar, shape| {
            let more: Box<dyn Reader<Elem = i32>> = Box::new(vec![1; 8]);
            let all = Concat::new(vec![Box::new(liar), more]);
            if let Some(t) = all.ok().and_then(|all| Tensor::new(shape, all).ok()) {
                let _ = (kernel.run)(&t);
            }
        });
    }
}

#[test]
fn a_lying_writer_never_panics_an_assignment() {
    with_every_lie("assign", |liar, [rows, columns]| {
        let source = Tensor::full([rows, columns], 3).unwrap();
        let Ok(mut t) = Tensor::new([rows, columns], liar) else { return };
        let _ = t.assign(&source);
        let _ = t.fill(4);
        let _ = t.try_add_assign(&source);
        let _ = t.try_div_assign(&source);
        let _ = t.update(|old| Ok((old + 1).boxed()));
        let map = t.address_map().clone();
        let (top, bottom) = (map.clone().slice(0, 0..2), map.clone().slice(0, 2..4));
        let _ = t.copy_within(&top.unwrap(), &bottom.unwrap());
        let _ = t.copy_within(&map.clone().flip(0).unwrap(), &map);
        let mut turned = t.view_mut().reshape([columns, rows]).unwrap().transpose([1, 0]).unwrap();
        let _ = turned.assign(&source);
        let _ = turned.try_mul_assign(2);
        let mut listed = turned.select(([1, 0],)).unwrap();
        let _ = listed.fill(5);
        let _ = listed.set([1, 1], 6);
    });
}

/// Blocks of storage whose length goes to 0, and such that overflow.
#[test]
fn blocks_that_become_others_are_no_panic() {
    struct Changes {
        len: AtomicUsize,
        extents: [usize; 2],
        block: [usize; 2],
    }
    impl Reader for Changes {
        type Elem = i32;
        fn len(&self) -> usize {
            self.len.load(Relaxed)
        }
        fn read(&self, address: usize) -> i32 {
            address as i32
        }
        fn blocks(&self) -> Option<&dyn Blocks<Elem = i32>> {
            Some(self)
        }
    }
    impl Blocks for Changes {
        type Elem = i32;
        fn extents(&self) -> &[usize] {
            &self.extents
        }
        fn block(&self) -> &[usize] {
            &self.block
        }
        fn load(&self, _: &[usize]) -> Result<Block<'_, i32>, StorageError> {
            Ok(Block::from(vec![0]))
        }
    }
    impl BlocksMut for Changes {
        fn store(&self, _: &[usize], _: &[i32]) -> Result<(), StorageError> {
            Ok(())
        }
    }
    for extents in [[5, 0], [0, 5]] {
        let t = Changes { len: AtomicUsize::new(10), extents, block: [1, 1] };
        let t = Tensor::new([10], t).unwrap();
        t.storage().len.store(0, Relaxed);
        drop((t.to_vec(), (&t + &t).eval(), t.sum(0).eval(), t.cumsum(0).eval(), t.get([3])));
        drop((t.touched_blocks(), (&t + &t).explain(), t.view().flip(0).unwrap().to_vec()));
    }
    let block = [usize::MAX, 2];
    let overflows = Changes { len: AtomicUsize::new(2), extents: [1, 2], block };
    assert!(overflows.change(&[0, 0], &mut |_| {}).is_err());
}

/// Where the memory shown is too short, that is what the error says.
#[test]
fn memory_that_is_too_short_is_named() {
    let t = Tensor::new([50, 100], Liar::new(Lie::Short, 5000, 0)).unwrap();
    let error = t.view().flip(0).unwrap().to_vec().unwrap_err();
    assert!(matches!(error, lensor::Error::OutOfSpan { len: 1666, .. }), "{error:?}");
    let error = t.get([49, 99]).unwrap_err();
    assert_eq!(error, lensor::Error::OutOfSpan { span: 4999..5000, len: 1666 });

    // As long as the view, but from elsewhere on.
    let mut t = Tensor::new([12], Liar::new(Lie::Short, 12, 0)).unwrap();
    let mut part = t.view_mut().slice(0, 8..12).unwrap();
    let short = lensor::Error::OutOfSpan { span: 8..12, len: 4 };
    assert_eq!(part.assign(&Tensor::full([4], 0).unwrap()).unwrap_err(), short);
    assert_eq!(part.try_add_assign(&Tensor::full([4], 1).unwrap()).unwrap_err(), short);
    assert_eq!(t.storage().data, (1..=12).collect::<Vec<i32>>());
}

/// A writer that gives no memory the second time is written as one that has none.
#[test]
fn memory_that_goes_away_is_done_without() {
    for calls in 0..2 {
        let mut t = Tensor::new([4, 6], Liar::new(Lie::ComesAndGoes, 24, calls)).unwrap();
        t.fill(8).unwrap();
        assert_eq!(t.storage().data, [8; 24]);
    }
}

/// A map reaches further than the storage is at the time of reading.
#[test]
fn a_map_beyond_the_storage_is_refused() {
    let map = AddressMap::row_major([3, 3]).unwrap();
    let refused = Tensor::with_map(map, vec![0; 8]).unwrap_err();
    assert_eq!(refused, lensor::Error::OutOfSpan { span: 0..9, len: 8 });
}

/// Memory handed out for reading into holds elements, never whatever was there before (mode 20).
#[test]
fn buffers_to_read_into_hold_elements() {
    /// Always 0xA5: anything else was never written by a storage.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Tag(u8);
    struct Peeks;
    impl Reader for Peeks {
        type Elem = Tag;
        fn len(&self) -> usize {
            1 << 16
        }
        fn read(&self, _address: usize) -> Tag {
            Tag(0xA5)
        }
        fn read_run(&self, _: usize, _: isize, out: &mut [Tag]) -> Result<(), StorageError> {
            assert!(out.iter().all(|tag| tag.0 == 0xA5));
            out.fill(Tag(0xA5));
            Ok(())
        }
        fn read_at(&self, _: &[usize], out: &mut [Tag]) -> Result<(), StorageError> {
            assert!(out.iter().all(|tag| tag.0 == 0xA5));
            Ok(())
        }
    }
    let t = Tensor::new([256, 256], Peeks).unwrap();
    let same = |found: Vec<Tag>| assert!(found.iter().all(|tag| tag.0 == 0xA5));
    same(t.to_vec().unwrap());
    same(t.view().transpose([1, 0]).unwrap().to_vec().unwrap());
    same(t.view().rotate([1, 5]).unwrap().select(([3, 1], ..)).unwrap().to_vec().unwrap());
    let linked = t.view().transpose([1, 0]).unwrap().reshape([1 << 16]).unwrap();
    same(linked.rotate([7]).unwrap().to_vec().unwrap());
    same(t.view().flat().read_at_all());

    trait ReadAll {
        fn read_at_all(&self) -> Vec<Tag>;
    }
    impl<R: Reader<Elem = Tag>> ReadAll for R {
        fn read_at_all(&self) -> Vec<Tag> {
            let mut out = vec![Tag(0xA5); 100];
            self.read_at(&(0..100).collect::<Vec<_>>(), &mut out).unwrap();
            out
        }
    }
}
