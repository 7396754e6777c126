//! Table tests: given these extents and strides, expect that nest.

use super::*;

const BLOCKING: Blocking = Blocking::SCRATCH;

fn planned<'a>(extents: &[usize], operands: &[Operand<'a>], blocking: Blocking) -> Plan<'a> {
    plan(extents, operands, blocking).expect("memory for tables")
}

pub(super) fn linear<'a>(base: isize, strides: &[isize]) -> Operand<'a> {
    let axes =
        strides.iter().map(|&stride| AxisPattern { stride, pattern: Pattern::Linear }).collect();
    Operand { base, axes, relocate: None, supply: Supply::Memory }
}

fn with_pattern<'a>(strides: &[isize], axis: usize, pattern: Pattern<'a>) -> Operand<'a> {
    let mut operand = linear(0, strides);
    operand.axes[axis].pattern = pattern;
    operand
}

/// Extents and strides of the loops of a nest, outermost first.
fn loops(nest: &Nest) -> Vec<(usize, Vec<isize>)> {
    nest.loops
        .iter()
        .map(|l| (l.extent, l.steps.iter().map(|step| step.stride).collect()))
        .collect()
}

/// The output addresses of all elements, with the leaf's, in the order they are visited.
fn visited(plan: &Plan<'_>) -> Vec<(isize, isize)> {
    let mut all = Vec::new();
    for nest in &plan.nests {
        crate::kernel::walk(nest, &plan.tables, &[None, None], 0, &mut |tile| {
            for row in 0..tile.rows {
                for column in 0..tile.columns {
                    all.push((tile.places[0].at(row, column), tile.places[1].at(row, column)));
                }
            }
            Ok(())
        })
        .expect("nothing fails");
    }
    all
}

#[test]
fn contiguous_axes_become_one_loop() {
    let plan = planned(&[4, 5, 6], &[linear(0, &[30, 6, 1]), linear(7, &[30, 6, 1])], BLOCKING);
    assert_eq!(loops(&plan.nests[0]), [(120, vec![1, 1])]);
    assert_eq!(plan.nests[0].bases.as_slice(), [0, 7]);
}

#[test]
fn axes_of_extent_one_go_away() {
    let plan = planned(&[1, 8, 1], &[linear(0, &[0, 1, 0]), linear(0, &[0, 3, 0])], BLOCKING);
    assert_eq!(loops(&plan.nests[0]), [(8, vec![1, 3])]);
}

#[test]
fn an_empty_axis_leaves_nothing_to_do() {
    assert!(planned(&[3, 0], &[linear(0, &[0, 0])], BLOCKING).nests.is_empty());
}

#[test]
fn rank_zero_is_one_element() {
    let plan = planned(&[], &[linear(3, &[]), linear(5, &[])], BLOCKING);
    assert_eq!(visited(&plan), [(3, 5)]);
}

#[test]
fn loops_follow_the_output_whatever_its_sign() {
    let plan = planned(&[10, 20], &[linear(0, &[1, 10]), linear(0, &[-1, -10])], BLOCKING);
    assert_eq!(loops(&plan.nests[0]), [(200, vec![1, -1])]);
}

#[test]
fn a_transposed_operand_is_crossed_and_blocked() {
    let plan = planned(&[512, 512], &[linear(0, &[512, 1]), linear(0, &[1, 512])], BLOCKING);
    let nest = &plan.nests[0];
    assert!(nest.transposed);
    assert_eq!(nest.block, [64, 64]);
    assert_eq!(loops(nest), [(512, vec![512, 1]), (512, vec![1, 512])]);
}

#[test]
fn a_broadcast_operand_does_not_cross() {
    let plan = planned(&[512, 512], &[linear(0, &[512, 1]), linear(0, &[1, 0])], BLOCKING);
    assert!(!plan.nests[0].transposed);
}

#[test]
fn long_rows_are_cut_shorter_where_they_go_through_scratch_memory() {
    let block = |second: Operand<'_>, blocking| {
        planned(&[10, 100_000], &[linear(0, &[200_000, 1]), second], blocking).nests[0].block
    };
    assert_eq!(block(linear(0, &[200_000, 1]), Blocking::DIRECT), [1, 16384]);
    assert_eq!(block(linear(0, &[1, 0]), Blocking::DIRECT), [1, 16384]);
    assert_eq!(block(linear(0, &[400_000, 2]), Blocking::DIRECT), [1, 2048]);
    assert_eq!(block(linear(0, &[200_000, 1]), Blocking::SCRATCH), [1, 2048]);
}

#[test]
fn short_rows_are_batched() {
    let plan = planned(&[1000, 3], &[linear(0, &[3, 1]), linear(0, &[3, -1])], BLOCKING);
    assert_eq!(plan.nests[0].block, [682, 3]);
}

#[test]
fn short_rows_of_a_crossed_nest_take_in_a_further_loop() {
    // An output [4, 8, 32] of a source whose first two axes follow one another.
    let plan =
        planned(&[4, 8, 32], &[linear(0, &[1024, 32, 1]), linear(0, &[8, 1, 5000])], BLOCKING);
    let nest = &plan.nests[0];
    assert_eq!(nest.loops.iter().map(|l| l.extent).collect::<Vec<_>>(), [32, 32]);
    assert_eq!(visited(&plan).len(), 1024);
}

#[test]
fn a_rotated_axis_is_cut_where_it_wraps() {
    let rotated = with_pattern(&[1], 0, Pattern::Cyclic { period: 20, shift: 17, step: 1 });
    let plan = planned(&[20], &[linear(0, &[1]), rotated], BLOCKING);
    assert_eq!(plan.nests.iter().map(Nest::count).collect::<Vec<_>>(), [3, 17]);
    let expected: Vec<_> = (0..20).map(|i| (i, (i + 17) % 20)).collect();
    assert_eq!(visited(&plan), expected);
}

#[test]
fn a_short_rotated_axis_follows_a_table() {
    let rotated = with_pattern(&[1], 0, Pattern::Cyclic { period: 10, shift: 7, step: 3 });
    let plan = planned(&[10], &[linear(0, &[1]), rotated], BLOCKING);
    assert_eq!((plan.nests.len(), plan.tables.len()), (1, 1));
    let expected: Vec<_> = (0..10).map(|i| (i, (3 * i + 7) % 10)).collect();
    assert_eq!(visited(&plan), expected);
}

#[test]
fn loops_of_few_elements_are_merged_to_columns() {
    // Rows of [3000, 2, 4] less what their middle axis lacks; 3000 is no multiple of 64.
    let (whole, repeated) = (linear(0, &[8, 4, 1]), linear(0, &[4, 0, 1]));
    let plan = planned(&[3000, 2, 4], &[whole.clone(), repeated], BLOCKING);
    let extents = |nest: &Nest| nest.loops.iter().map(|l| l.extent).collect::<Vec<_>>();
    let found: Vec<_> = plan.nests.iter().map(extents).collect();
    assert_eq!(found, [vec![46, 512], vec![448]]);
    let expected = |i: usize| (i as isize, (i / 8 * 4 + i % 4) as isize);
    let mut all = visited(&plan);
    all.sort_unstable();
    assert_eq!(all, (0..24_000).map(expected).collect::<Vec<_>>());
    // Backwards along two axes in turn, and a list in front of them.
    let list: Vec<usize> = (0..30).map(|i| i * 7 % 30).collect();
    let mut backwards = linear(7, &[8, -1, -4]);
    backwards.axes[0].pattern = Pattern::Listed(&list);
    let plan = planned(&[30, 4, 2], &[linear(0, &[8, 2, 1]), backwards], BLOCKING);
    assert_eq!(extents(&plan.nests[0]), [240]);
    let expected = |i: usize| (i as isize, (list[i / 8] * 8 + 7 - i / 2 % 4 - i % 2 * 4) as isize);
    assert_eq!(visited(&plan), (0..240).map(expected).collect::<Vec<_>>());
}

#[test]
fn a_repeated_axis_becomes_repeats_and_period() {
    let tiled = with_pattern(&[1], 0, Pattern::Cyclic { period: 4, shift: 0, step: 1 });
    let plan = planned(&[12], &[linear(0, &[1]), tiled], BLOCKING);
    assert_eq!(loops(&plan.nests[0]), [(3, vec![4, 0]), (4, vec![1, 1])]);
}

#[test]
fn incommensurate_cycles_become_tables() {
    let cycle = with_pattern(&[1], 0, Pattern::Cyclic { period: 7, shift: 3, step: 3 });
    let plan = planned(&[100], &[linear(0, &[1]), cycle], BLOCKING);
    assert_eq!((plan.nests.len(), plan.tables.len()), (1, 1));
    let expected: Vec<_> = (0..100).map(|i| (i, (3 + 3 * i) % 7)).collect();
    assert_eq!(visited(&plan), expected);
}

#[test]
fn tables_are_as_long_as_cycles_take_to_meet() {
    let cycle = with_pattern(&[1], 0, Pattern::Cyclic { period: 7, shift: 3, step: 3 });
    let count = 50_000;
    let plan = planned(&[count], &[linear(5, &[1]), cycle], BLOCKING);
    let longest = plan.tables.iter().map(|table| table.len()).max();
    assert!(longest < Some(4200), "{longest:?}");
    let mut found = visited(&plan);
    found.sort_unstable();
    let expected: Vec<_> = (0..count as isize).map(|i| (i + 5, (3 + 3 * i) % 7)).collect();
    assert_eq!(found, expected);
}

/// Of operands that wrap together seldom or never, tables would be as long as the axis.
#[test]
fn operands_that_wrap_seldom_are_cut_beside_others() {
    let cyclic = |period, shift| with_pattern(&[1], 0, Pattern::Cyclic { period, shift, step: 1 });
    let rotated = |extent| cyclic(extent, extent - 5);
    let count = 50_000;
    let plan = planned(&[count], &[rotated(count), cyclic(10, 0)], BLOCKING);
    assert!(plan.tables.is_empty());
    let mut found = visited(&plan);
    found.sort_unstable();
    let expected = |i: usize| (i as isize, ((i + 5) % count % 10) as isize);
    assert_eq!(found, (0..count).map(expected).collect::<Vec<_>>());
    let count = 100_000_003;
    let plan = planned(&[count], &[linear(0, &[1]), rotated(count), cyclic(10, 3)], BLOCKING);
    assert!(plan.tables.is_empty() && plan.nests.len() < 12);
    assert_eq!(plan.nests.iter().map(Nest::count).sum::<usize>(), count);
    // Periods without a common divisor.
    let count = 1_100_000;
    let plan = planned(&[count], &[linear(0, &[1]), cyclic(4001, 0), cyclic(4003, 0)], BLOCKING);
    assert!(plan.tables.is_empty());
    assert_eq!(plan.nests.iter().map(Nest::count).sum::<usize>(), count);
    for nest in &plan.nests {
        let start = nest.bases[0];
        assert_eq!(nest.bases[..], [start, start % 4001, start % 4003]);
        assert_eq!(loops(nest), [(nest.count(), vec![1, 1, 1])]);
    }
}

#[test]
fn tables_are_as_long_as_the_least_common_multiple() {
    let cyclic = |period| with_pattern(&[1], 0, Pattern::Cyclic { period, shift: 0, step: 1 });
    let operands = [linear(0, &[1]), cyclic(40_000), cyclic(60_000)];
    let plan = planned(&[120_000_000], &operands, BLOCKING);
    let lengths: Vec<_> = plan.tables.iter().map(|table| table.len()).collect();
    assert_eq!(lengths, [120_000, 120_000]);
    assert_eq!(loops(&plan.nests[0])[0], (1000, vec![120_000, 0, 0]));
    // Long ones, too, where cuts would take more memory.
    let operands = [linear(0, &[1]), cyclic(2049), cyclic(1031)];
    let plan = planned(&[1 << 28], &operands, BLOCKING);
    assert_eq!(plan.tables[0].len(), 2049 * 1031);
}

#[test]
fn a_listed_axis_keeps_its_table() {
    let listed = with_pattern(&[2], 0, Pattern::Listed(&[3, 1, 1]));
    let plan = planned(&[3], &[linear(0, &[1]), listed], BLOCKING);
    assert_eq!(visited(&plan), [(0, 6), (1, 2), (2, 2)]);
}

#[test]
fn both_halves_of_a_split_make_up_the_nest() {
    let whole = planned(&[200, 50], &[linear(0, &[50, 1]), linear(0, &[1, 200])], BLOCKING);
    let (low, high) = whole.nests[0].split().expect("long enough");
    let halves = Plan { nests: vec![low, high], tables: Vec::new() };
    let sorted = |plan: &Plan<'_>| {
        let mut all = visited(plan);
        all.sort_unstable();
        all
    };
    assert_eq!(sorted(&halves), sorted(&whole));
}

#[test]
fn the_span_of_a_nest_is_what_the_output_reaches() {
    let backwards = linear(9, &[-3, 1]);
    let plan = planned(&[4, 3], &[backwards, linear(0, &[0, 0])], BLOCKING);
    assert_eq!(plan.nests[0].span(0, &plan.tables), (0, 11));
    let listed = |base, stride| {
        let operand = with_pattern(&[stride], 0, Pattern::Listed(&[2, 5, 3]));
        Operand { base, ..operand }
    };
    for output in [listed(4, 2), listed(20, -2), listed(0, 1)] {
        let plan = planned(&[3], &[output, linear(0, &[1])], BLOCKING);
        let reached: Vec<_> = visited(&plan).into_iter().map(|(address, _)| address).collect();
        let spans: Vec<_> = plan.nests.iter().map(|nest| nest.span(0, &plan.tables)).collect();
        let low = reached.iter().min().map(|&low| low as i128);
        let high = reached.iter().max().map(|&high| high as i128);
        assert_eq!(spans.iter().map(|span| span.0).min(), low);
        assert_eq!(spans.iter().map(|span| span.1).max(), high);
    }
}

#[test]
fn strides_that_nest_are_injective() {
    assert!(crate::kernel::evaluate::is_nested(&[4, 5], &linear(0, &[5, -1])));
    assert!(!crate::kernel::evaluate::is_nested(&[4, 5], &linear(0, &[4, 1])));
    assert!(crate::kernel::evaluate::is_nested(&[4, 0], &linear(0, &[0, 0])));
}

/// Axes of other storage stay whole, but for tables of millions.
#[test]
fn tables_of_whole_axes_are_not_as_long_as_they() {
    let tiled = |extent: usize| {
        let mut operand = linear(0, &[7, 1]);
        operand.axes[1].pattern = Pattern::Cyclic { period: 7, shift: 1, step: 1 };
        operand.supply = Supply::Runs;
        let plan = planned(&[3, extent], &[linear(0, &[extent as isize, 1]), operand], BLOCKING);
        plan.tables.iter().map(|table| table.len()).max().unwrap_or(0)
    };
    assert!(tiled(70_000_000) <= 1 << 20);
    assert!(tiled(70_003) <= 70_003);
}

/// Too many nests: axes are planned again without cuts, a long one of a short period too.
#[test]
fn plans_of_many_cut_axes_end() {
    let cyclic = |period| Pattern::Cyclic { period, shift: 1, step: 1 };
    let extents = [3, 3, 3, 3, 3, 3, 21_000];
    let strides: Vec<isize> =
        vec![21_000 * 243, 21_000 * 81, 21_000 * 27, 567_000 / 3, 63_000, 21_000, 1];
    let (mut output, mut tiled) = (linear(0, &strides), linear(0, &[7; 7]));
    for axis in 0..6 {
        output.axes[axis].pattern = cyclic(3);
        tiled.axes[axis].stride = 0;
    }
    tiled.axes[6] = AxisPattern { stride: 1, pattern: cyclic(7) };
    let plan = planned(&extents, &[output, tiled], BLOCKING);
    assert!(plan.nests.len() <= 64, "{}", plan.nests.len());
    assert_eq!(plan.nests.iter().map(Nest::count).sum::<usize>(), 729 * 21_000);
}

/// Several operands that wrap here and there along long axes: pieces of each axis multiply.
#[test]
fn plans_of_too_many_nests_are_refused() {
    let refused = |most: usize, n: usize, rank: usize, periods: &[usize]| {
        let strides = vec![1; rank];
        let mut operands = vec![linear(0, &strides)];
        for axis in 0..rank {
            let cyclic = |&period| Pattern::Cyclic { period, shift: 0, step: 1 };
            operands
                .extend(periods.iter().map(|period| with_pattern(&strides, axis, cyclic(period))));
        }
        let planned = plan_at_most(most, &vec![n; rank], &operands, BLOCKING);
        matches!(planned, Err(crate::Error::OutOfMemory { .. }))
    };
    assert!(refused(1 << 16, (1 << 20) + 4096, 2, &[4096, 4099]));
    assert!(refused(MOST_PIECES, 1 << 40, 1, &[4096, 4099, 4103]));
    assert!(!refused(1 << 16, (1 << 20) + 4096, 1, &[4096, 4099]));
    // Those that are alike are cut at the same places.
    assert!(!refused(1 << 12, 1 << 21, 1, &[2049, 2049, 2049, 2049, 2050]));
    assert!(refused(1 << 10, 1 << 21, 1, &[2049, 2050]));
}

/// A box of any operand is planned as the same elements of all.
#[test]
fn boxes_of_operands_are_parts_of_them() {
    let output = linear(0, &[12, 1]);
    let mut leaf = linear(7, &[100, -3]);
    leaf.axes[0].pattern = Pattern::Listed(&[3, 0, 0, 2, 1]);
    leaf.axes[1].pattern = Pattern::Cyclic { period: 5, shift: 3, step: 2 };
    let flat = linear(5, &[-40, 2]);
    for leaf in [leaf, flat] {
        let mut whole = visited(&planned(&[5, 12], &[output.clone(), leaf.clone()], BLOCKING));
        whole.retain(|(at, _)| (1..4).contains(&(at / 12)) && (2..9).contains(&(at % 12)));
        let operands = [&output, &leaf].map(|operand| operand.within(&[1..4, 2..9]));
        let mut part = visited(&planned(&[3, 7], &operands, BLOCKING));
        whole.sort_unstable();
        part.sort_unstable();
        assert_eq!(part, whole);
    }
}
