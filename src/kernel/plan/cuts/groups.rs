//! Groups of boxes whose blocks are held together, where several operands come in blocks.

use smallvec::SmallVec;

/// One number a loop.
pub(super) type PerLoop = SmallVec<[usize; 4]>;

/// Loops in parts, and the blocks of operands along them.
pub(super) struct Groups<'a> {
    /// Parts of each loop.
    pub(super) parts: PerLoop,
    /// Loops, those first whose parts change last.
    pub(super) order: &'a [usize],
    /// In how many blocks each operand lies along each loop: 1 where it stays in one.
    pub(super) operands: SmallVec<[PerLoop; 4]>,
    /// Blocks that are held.
    pub(super) held: usize,
}

impl Groups<'_> {
    /// Blocks of an operand along so many parts of a loop, which need not end where blocks do.
    fn spanned(&self, blocks: &PerLoop, l: usize, parts: usize) -> usize {
        blocks[l].saturating_mul(parts).div_ceil(self.parts[l])
    }

    /// The same of parts none of which has elements of two blocks.
    fn span(&self, blocks: &PerLoop, l: usize, parts: usize) -> usize {
        self.spanned(blocks, l, parts).min(parts)
    }

    /// Blocks of all operands in so many parts of each loop, which need not end where blocks do.
    pub(super) fn touched(&self, sizes: &PerLoop) -> usize {
        self.blocks_by(sizes, Self::spanned)
    }

    /// The same of parts none of which has elements of two blocks.
    fn blocks(&self, group: &PerLoop) -> usize {
        self.blocks_by(group, Self::span)
    }

    fn blocks_by(
        &self,
        sizes: &PerLoop,
        along: fn(&Self, &PerLoop, usize, usize) -> usize,
    ) -> usize {
        let of_operand = |blocks: &PerLoop| {
            let spans = sizes.iter().enumerate().map(|(l, &parts)| along(self, blocks, l, parts));
            spans.fold(1, usize::saturating_mul)
        };
        self.operands.iter().map(of_operand).fold(0, usize::saturating_add)
    }

    /// How many blocks are loaded, about, if those of one group are held.
    fn loads(&self, group: &PerLoop) -> usize {
        let of_operand = |blocks: &PerLoop| {
            let Some(last) = self.order.iter().rposition(|&l| blocks[l] > 1) else { return 1 };
            let along = self.order[..=last].iter().enumerate().map(|(place, &l)| {
                let groups = self.parts[l].div_ceil(group[l]);
                // Along the last loop to other blocks, groups share those at their ends.
                if place == last { blocks[l] } else { groups * self.span(blocks, l, group[l]) }
            });
            along.fold(1, usize::saturating_mul)
        };
        self.operands.iter().map(of_operand).fold(0, usize::saturating_add)
    }

    /// How many blocks are loaded if boxes of so many parts, which need not end where blocks do, are evaluated one after
    /// another, each of which loads what it needs of every operand once, and `held` blocks of it are there for the next.
    fn loads_by_boxes(&self, sizes: &PerLoop) -> usize {
        let of_operand = |blocks: &PerLoop| {
            let span = |l: usize| self.spanned(blocks, l, sizes[l]);
            let mut touched = (0..sizes.len()).map(span).fold(1, usize::saturating_mul);
            let along = self.order.iter().rev().map(|&l| {
                let again = touched > self.held;
                touched = (touched / span(l)).saturating_mul(blocks[l]);
                if again {
                    self.parts[l].div_ceil(sizes[l]).saturating_mul(span(l))
                } else {
                    blocks[l]
                }
            });
            along.fold(1, usize::saturating_mul)
        };
        self.operands.iter().map(of_operand).fold(0, usize::saturating_add)
    }

    /// Parts of each loop that are evaluated as one box, if that `fits`, where that loads fewer blocks; along loops that may
    /// be joined.
    pub(super) fn join(
        &self,
        may_be: &dyn Fn(usize) -> bool,
        fits: &dyn Fn(&PerLoop) -> bool,
    ) -> PerLoop {
        let mut sizes = PerLoop::from_elem(1, self.parts.len());
        loop {
            let longer = (0..sizes.len()).filter(|&l| may_be(l)).filter_map(|l| {
                let mut longer = sizes.clone();
                longer[l] = (2 * sizes[l]).min(self.parts[l]);
                (longer[l] > sizes[l] && fits(&longer)).then_some(longer)
            });
            match longer.min_by_key(|sizes| self.loads_by_boxes(sizes)) {
                Some(longer) if self.loads_by_boxes(&longer) < self.loads_by_boxes(&sizes) => {
                    sizes = longer;
                }
                _ => return sizes,
            }
        }
    }

    /// Parts of each loop in a group, so that few blocks are loaded; `few` is what groups have at least, if that fits
    /// with room for more. Of groups that are as good, those nearest to squares: boxes and their mirror images.
    pub(super) fn choose(&self, few: &PerLoop) -> PerLoop {
        let mut group = PerLoop::from_elem(1, self.parts.len());
        let grow = |group: &PerLoop, l: usize, parts: usize, held: usize| {
            let mut grown = group.clone();
            grown[l] = parts.min(self.parts[l]);
            (grown[l] > group[l] && self.blocks(&grown) <= held).then_some(grown)
        };
        let largest = |group: &PerLoop| group.iter().max().copied();
        loop {
            let short = (0..group.len()).filter(|&l| group[l] < few[l]);
            let grown = short.filter_map(|l| grow(&group, l, 2 * group[l], self.held / 2));
            match grown.min_by_key(|group| (self.blocks(group), largest(group))) {
                Some(grown) => group = grown,
                None => break,
            }
        }
        loop {
            let grown = (0..group.len()).filter_map(|l| {
                let longer = |parts| grow(&group, l, parts, self.held);
                longer(2 * group[l]).or_else(|| {
                    // As long as fits.
                    let (mut low, mut high) = (group[l], (2 * group[l]).min(self.parts[l]));
                    while high - low > 1 {
                        let middle = low.midpoint(high);
                        if longer(middle).is_some() { low = middle } else { high = middle }
                    }
                    longer(low)
                })
            });
            let best = |group: &PerLoop| (self.loads(group), self.blocks(group), largest(group));
            match grown.min_by_key(best) {
                Some(grown) => group = grown,
                None => return group,
            }
        }
    }
}
