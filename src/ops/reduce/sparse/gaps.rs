//! Whether some row may be stored to its last element, as far as blocks of entries tell.

/// What blocks of entries tell of the longest run of neighbours.
#[derive(Default)]
pub(super) struct Gaps {
    /// Entries of the longest block.
    block: usize,
    /// Entries of whole blocks that are neighbours: those up to the last position, and the most there were.
    chain: usize,
    longest: usize,
    last: usize,
}

impl Gaps {
    pub(super) fn take(&mut self, positions: &[usize]) {
        let (Some(first), Some(last)) = (positions.first(), positions.last()) else { return };
        if last.wrapping_sub(*first) != positions.len() - 1 {
            self.chain = 0;
        } else if self.last.wrapping_add(1) == *first {
            self.chain += positions.len();
        } else {
            self.chain = positions.len();
        }
        self.block = self.block.max(positions.len());
        self.longest = self.longest.max(self.chain);
        self.last = *last;
    }

    /// Whether `size` neighbours may have been entries: whole blocks and parts of those before and after.
    pub(super) fn may_miss(&self, size: usize) -> bool {
        self.longest + 2 * self.block > size
    }
}

#[cfg(test)]
mod tests {
    use super::Gaps;

    #[test]
    fn rows_are_missed_only_where_whole_blocks_are_neighbours() {
        let mut gaps = Gaps::default();
        assert!(!gaps.may_miss(1));
        gaps.take(&[0, 1, 2, 4]);
        gaps.take(&[5, 6, 7, 9]);
        assert!(gaps.may_miss(7) && !gaps.may_miss(8));
        gaps.take(&[10]);
        assert!(gaps.may_miss(8) && !gaps.may_miss(9));
        gaps.take(&[11, 12, 13, 14]);
        assert!(gaps.may_miss(12) && !gaps.may_miss(13));
        gaps.take(&[16, 17]);
        gaps.take(&[3, 2]);
        assert!(!gaps.may_miss(13));
    }
}
