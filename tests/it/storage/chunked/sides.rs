//! Numbers of blocks, and where they begin: those that are none.

use super::all;
use lensor::StorageError;
use lensor::prelude::*;
use lensor::storage::{Block, BlockMemory, Blocks, BlocksMut, Chunked, Starts};

/// Indexes of no block are neither wrapped nor taken for another.
#[test]
fn memory_has_no_blocks_beyond_its_own() {
    let memory = BlockMemory::new([4, 4], [2, 2], 0).unwrap();
    for index in [&[0, 2][..], &[2, 0], &[usize::MAX, 0], &[1 << 63, 1], &[], &[0], &[0, 0, 0]] {
        let error = memory.load(index).map(drop).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("storage failed at address 0: there is no block {index:?}")
        );
        assert!(memory.store(index, &[1; 4]).is_err());
    }
    assert_eq!(all(&Chunked::new(memory).unwrap()), [0; 16]);
}

/// Places where no blocks begin.
#[test]
fn starts_that_are_none_are_refused() {
    for (list, extent, number, start) in [
        (&[][..], 3, 0, 3),
        (&[1], 3, 0, 1),
        (&[0], 0, 0, 0),
        (&[0, 2, 2], 5, 2, 2),
        (&[0, 3, 1], 5, 2, 1),
        (&[0, 5], 5, 1, 5),
    ] {
        let error = Starts::new(list.to_vec(), extent).unwrap_err();
        assert_eq!(error, Error::BlockStart { number, start, extent });
        let text = format!("block {number} of an axis of {extent} cannot begin at {start}");
        assert_eq!(error.to_string(), text);
    }
    assert_eq!(Starts::new(vec![], 0).unwrap().as_slice(), &[] as &[usize]);
}

/// Numbers that are no blocks.
#[test]
fn blocks_that_are_none_are_refused() {
    let cases: [(&[usize], &[usize], &str); 5] = [
        (&[4, 4], &[4], "blocks of [4] do not make storage of [4, 4]"),
        (&[4], &[0], "blocks of [0] do not make storage of [4]"),
        (&[usize::MAX], &[2], "blocks of [2] do not make storage of [18446744073709551615]"),
        (
            &[1 << 40, 1 << 40],
            &[1 << 40, 1],
            "do not make storage of [1099511627776, 1099511627776]",
        ),
        (
            &[1, 1],
            &[1 << 62, 3],
            "blocks of [4611686018427387904, 3] do not make storage of [1, 1]",
        ),
    ];
    struct Sides<'s>(&'s [usize], &'s [usize], Option<Starts>);
    impl Blocks for Sides<'_> {
        type Elem = u8;
        fn extents(&self) -> &[usize] {
            self.0
        }
        fn block(&self) -> &[usize] {
            self.1
        }
        fn starts(&self, _: usize) -> Option<Starts> {
            self.2.clone()
        }
        fn load(&self, _: &[usize]) -> Result<Block<'_, u8>, StorageError> {
            Ok(Block::Fill(0))
        }
    }
    for (extents, block, text) in cases {
        let error = Chunked::new(Sides(extents, block, None)).err().unwrap();
        assert_eq!(error, Error::Blocks { extents: extents.to_vec(), block: block.to_vec() });
        assert!(error.to_string().contains(text), "{error}");
    }
    let error = BlockMemory::new([4, 4], [2, 0], 0).unwrap_err();
    assert_eq!(error, Error::Blocks { extents: vec![4, 4], block: vec![2, 0] });
    // Without elements, and without axes.
    let none = Chunked::new(Sides(&[0, 5], &[2, 2], None)).unwrap();
    assert!(Tensor::new([0, 5], none).unwrap().to_vec().unwrap().is_empty());
    let one = Chunked::new(Sides(&[], &[], None)).unwrap();
    assert_eq!(Tensor::new([], one).unwrap().to_vec().unwrap(), [0]);
    // Starts of an axis that is shorter, or of longer blocks.
    let starts = Starts::new(vec![0, 3], 5).unwrap();
    for (extent, block, fits) in [([5], [3], true), ([6], [3], false), ([5], [2], false)] {
        let chunked = Chunked::new(Sides(&extent, &block, Some(starts.clone())));
        assert_eq!(chunked.is_ok(), fits, "{extent:?} {block:?}");
    }
}
