//! Table tests: given this nest and this storage, expect those boxes.

use super::super::tests::linear;
use super::*;
use crate::grid::Sides;
use crate::kernel::plan::{Blocking, plan};

/// Boxes in the order of visits: for each the lowest address in the output, and the extents of its loops.
fn boxes(extents: &[usize], operands: &[Operand<'_>]) -> Option<Vec<(isize, Vec<usize>)>> {
    let mut plan = plan(extents, operands, Blocking::SCRATCH).unwrap();
    let nest = plan.nests.remove(0);
    let cuts = Cuts::where_better(&nest, operands, &mut plan.tables).unwrap()?;
    let each = (0..cuts.count()).map(|number| {
        let nest = cuts.box_at(number);
        (nest.bases[0], nest.loops.iter().map(|l| l.extent).collect())
    });
    Some(each.collect())
}

fn far<'a>(strides: &[isize], supply: Supply<'a>) -> Operand<'a> {
    Operand { supply, ..linear(0, strides) }
}

fn grid(extents: [usize; 2], block: [usize; 2], held: usize) -> Grid {
    Grid { sides: Sides::new(&extents, &block, SmallVec::from_elem(None, 2)).unwrap(), held }
}

#[test]
fn rows_in_order_are_not_cut() {
    let operands = [linear(0, &[1000, 1]), far(&[1000, 1], Supply::Runs)];
    assert_eq!(boxes(&[1000, 1000], &operands), None);
    // A row that is repeated is read once for many.
    let operands = [linear(0, &[1000, 1]), far(&[0, 1], Supply::Runs)];
    assert_eq!(boxes(&[1000, 1000], &operands), Some(vec![(0, vec![1000, 1000])]));
}

#[test]
fn boxes_are_long_along_small_strides() {
    let operands = [linear(0, &[1024, 1]), far(&[1, 1024], Supply::Runs)];
    let found = boxes(&[1024, 1024], &operands).unwrap();
    assert_eq!(found.len(), 8);
    assert!(found.iter().all(|(_, sides)| sides == &[1024, 128]), "{found:?}");
    let bases: Vec<isize> = found.iter().map(|(base, _)| *base).collect();
    assert_eq!(bases, [0, 128, 256, 384, 512, 640, 768, 896]);
    // Rows that do not fit are cut, to no less than a few of each.
    let side = 1 << 20;
    let operands = [linear(0, &[256, 1]), far(&[1, side], Supply::Runs)];
    let found = boxes(&[side as usize, 256], &operands).unwrap();
    assert_eq!(found[0], (0, vec![2048, 64]));
    assert_eq!(found.len(), 512 * 4);
}

#[test]
fn large_blocks_are_boxes() {
    let grid = grid([200, 300], [64, 128], 1);
    let whole = [linear(0, &[300, 1]), far(&[300, 1], Supply::Blocks(&grid))];
    let found = boxes(&[200, 300], &whole).unwrap();
    assert_eq!(found.len(), 4 * 3);
    assert_eq!(found[0], (0, vec![64, 128]));
    assert_eq!(found[2], (256, vec![64, 44]));
    assert_eq!(found[11], (192 * 300 + 256, vec![8, 44]));
    // A part that begins within a block, backwards.
    let part =
        [linear(0, &[100, 1]), Operand { base: 250, ..far(&[300, -1], Supply::Blocks(&grid)) }];
    let found = boxes(&[64, 100], &part).unwrap();
    assert_eq!(found, [(0, vec![64, 100])]);
    let part =
        [linear(0, &[200, 1]), Operand { base: 250, ..far(&[300, -1], Supply::Blocks(&grid)) }];
    let found = boxes(&[64, 200], &part).unwrap();
    assert_eq!(found, [(0, vec![64, 123]), (123, vec![64, 77])]);
}

#[test]
fn small_blocks_are_read_together() {
    let grid = grid([1024, 1024], [4, 4], 0);
    let turned = [linear(0, &[1024, 1]), far(&[1, 1024], Supply::Blocks(&grid))];
    let found = boxes(&[1024, 1024], &turned).unwrap();
    assert_eq!(found.len(), 8);
    assert!(found.iter().all(|(_, sides)| sides == &[1024, 128]));
}

#[test]
fn blocks_of_several_operands_are_visited_in_groups() {
    let of = |held| {
        let grid = grid([256, 256], [64, 64], held);
        let operands = [
            linear(0, &[256, 1]),
            far(&[256, 1], Supply::Blocks(&grid)),
            far(&[1, 256], Supply::Blocks(&grid)),
        ];
        let found = boxes(&[256, 256], &operands).unwrap();
        found.iter().map(|(base, _)| (base / 256 / 64, base % 256 / 64)).collect::<Vec<_>>()
    };
    assert_eq!(of(2)[..5], [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)]);
    assert_eq!(of(8)[..5], [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2)]);
}

#[test]
fn lists_are_visited_in_order_of_storage() {
    let list: Vec<usize> = (0..1024).map(|k| k * 7919 % 1024).collect();
    let mut operand = far(&[1024, 1], Supply::Runs);
    operand.axes[0].pattern = crate::kernel::Pattern::Listed(&list);
    let operands = [linear(0, &[1024, 1]), operand];
    let mut plan = plan(&[1024, 1024], &operands, Blocking::SCRATCH).unwrap();
    let nest = plan.nests.remove(0);
    let cuts = Cuts::where_better(&nest, &operands, &mut plan.tables).unwrap().unwrap();
    let mut rows = Vec::new();
    for number in 0..cuts.count() {
        let nest = cuts.box_at(number);
        rows.extend_from_slice(table(&nest.loops[0], 1, &plan.tables).unwrap());
    }
    assert!(rows.is_sorted() && rows.len() == 1024);
}

#[test]
fn what_follows_no_axis_is_read_in_runs() {
    let grid = grid([100, 100], [64, 64], 1);
    // A diagonal, one axis over all rows, and one over parts of rows.
    for (base, extent, stride, loops) in
        [(0, 100, 101, None), (0, 10_000, 1, Some([100, 100])), (1, 9_998, 1, None)]
    {
        let operand = Operand { base, ..far(&[stride], Supply::Blocks(&grid)) };
        let plan = plan(&[extent], &[linear(0, &[stride]), operand], Blocking::SCRATCH).unwrap();
        let area = Area::new(&grid, &plan.nests[0], 1, &plan.tables);
        let found = area.map(|_| [0, 1].map(|l| plan.nests[0].loops[l].extent));
        assert_eq!(found, loops);
    }
}

#[test]
fn boxes_of_rotated_axes_are_strided_tiles_of_many_rows() {
    let grid = grid([64, 2048], [64, 256], 8);
    let mut operand = far(&[2048, 1], Supply::Blocks(&grid));
    let rotated = crate::kernel::Pattern::Cyclic { period: 2048, shift: 33, step: 1 };
    operand.axes[1].pattern = rotated;
    let operands = [linear(0, &[2048, 1]), operand];
    let mut plan = plan(&[64, 2048], &operands, Blocking::SCRATCH).unwrap();
    assert_eq!(plan.nests[0].block, [1, 2048]);
    let nest = plan.nests.remove(0);
    let cuts = Cuts::where_better(&nest, &operands, &mut plan.tables).unwrap().unwrap();
    assert_eq!(cuts.count(), 8);
    for number in 0..8 {
        let mut nest = cuts.box_at(number);
        assert_eq!(nest.block, [8, 256]);
        nest.straighten(&plan.tables);
        // The first block holds the elements at both ends of a row.
        let listed = nest.loops[1].steps.iter().filter(|step| step.table.is_some()).count();
        assert_eq!(listed, usize::from(number == 0), "{number}: {nest:?}");
        let first = 256 * number as isize;
        if number > 0 {
            assert_eq!(nest.bases[..], [first - 33, first]);
            assert!(nest.loops[1].steps.iter().all(|step| step.stride == 1));
        }
    }
}

/// How often blocks are loaded by a cache of those that were used last, and elements of the smallest box.
fn loads(side: usize, block: [usize; 2], held: usize) -> (usize, usize) {
    let grid = grid([side, side], block, held);
    let width = side as isize;
    let operands = [
        linear(0, &[width, 1]),
        far(&[width, 1], Supply::Blocks(&grid)),
        far(&[1, width], Supply::Blocks(&grid)),
    ];
    let mut plan = plan(&[side, side], &operands, Blocking::SCRATCH).unwrap();
    let nest = plan.nests.remove(0);
    let cuts = Cuts::where_better(&nest, &operands, &mut plan.tables).unwrap().unwrap();
    // As two storages.
    let (mut cached, mut loads, mut least) = (Vec::new(), 0, usize::MAX);
    for number in 0..cuts.count() {
        let nest = cuts.box_at(number);
        least = least.min(nest.count());
        for operand in [1, 2] {
            let area = Area::new(&grid, &nest, operand, &plan.tables).unwrap();
            area.for_each_block(&grid, &mut |index| {
                let block = (operand, index.to_vec());
                match cached.iter().position(|own| *own == block) {
                    Some(at) => drop(cached.remove(at)),
                    None => loads += 1,
                }
                cached.push(block);
                if cached.len() > held {
                    cached.remove(0);
                }
                Ok::<(), ()>(())
            })
            .unwrap();
        }
    }
    (loads, least)
}

#[test]
fn slabs_that_cross_are_loaded_as_seldom_as_the_cache_allows() {
    // 64 slabs of each: those of one operand once, of the other once for each group of slabs.
    let (found, _) = loads(256, [4, 256], 16);
    assert!(found <= 64 + 64 * 64_usize.div_ceil(12) + 64, "{found}");
    let (found, least) = loads(512, [1, 512], 256);
    assert!(found <= 512 * 5, "{found}");
    assert!(least >= 1024, "{least}");
    // Tiles are loaded once.
    assert_eq!(loads(512, [64, 64], 4).0, 128);
}
