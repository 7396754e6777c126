//! The one error type. Every variant carries the numbers that would fix the call.
//!
//! Longer than 400 lines because it is one table of errors.

mod below;
mod files;
mod foreign;
mod gufunc;
mod index;
mod ragged;

use foreign::Foreign;
pub use gufunc::{Cause, CoreAxesFlaw, SignatureFlaw};
use std::fmt::{Debug, Formatter};
use std::ops::Range;
use std::sync::Arc;

/// Result with [`Error`] as its default error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong, with the numbers involved.
///
/// Errors compare by their values; foreign errors inside them compare by their rendered text.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The shape `from` cannot be repeated to the shape `to`.
    #[error("cannot broadcast {from:?} to {to:?}: {}", broadcast_reason(from, to, *axis))]
    Broadcast {
        /// Shape of the view.
        from: Vec<usize>,
        /// Shape asked for.
        to: Vec<usize>,
        /// First axis of `to` that does not match.
        axis: usize,
    },
    /// The shape `from` cannot be stretched to the shape `to`, where extents of 1 alone change.
    #[error("cannot stretch {from:?} to {to:?}: {}", stretch_reason(from, to, *axis, *left))]
    Stretch {
        /// Shape of the view.
        from: Vec<usize>,
        /// Shape asked for.
        to: Vec<usize>,
        /// First axis of `to` that does not match.
        axis: usize,
        /// Whether the shapes were aligned at their first axes.
        left: bool,
    },
    /// More axes than a tensor, a map or a joint shape may have.
    #[error("a tensor has at most {limit} axes, found {rank}")]
    RankLimit {
        /// Number of axes asked for.
        rank: usize,
        /// Most axes, [`Shape::MAX_RANK`](crate::Shape::MAX_RANK).
        limit: usize,
    },
    /// More operands in an expression (its leaves: tensors, views, numbers) than are evaluated, counted with repeats.
    #[error(
        "the expression has {leaves} leaves and may have {limit}: evaluate a part of it and go on from the result"
    )]
    TooManyLeaves {
        /// Number of leaves; `usize::MAX` if there are more.
        leaves: usize,
        /// Most leaves.
        limit: usize,
    },
    /// Operands of an elementwise operator do not align.
    #[error(
        "operands could not be broadcast: argument {argument} has shape {}, the result so far is {}, axis {axis}: {} vs {}",
        ragged::extents(shape), ragged::extents(so_far), ragged::extent(aligned(shape, so_far, *axis, *left)),
        ragged::extent(aligned(so_far, shape, *axis, *left))
    )]
    Operands {
        /// Position of the argument, from 1.
        argument: usize,
        /// Its shape; `usize::MAX` stands for an axis whose rows differ in length.
        shape: Vec<usize>,
        /// Joint shape of the arguments before it.
        so_far: Vec<usize>,
        /// First axis of the joint shape where the extents differ and neither is 1.
        axis: usize,
        /// Whether the shapes were aligned at their first axes.
        left: bool,
    },
    /// Axes of two operands that are summed over together differ in extent.
    #[error(
        "cannot multiply shapes {left:?} and {right:?}: axis {left_axis} of the first has extent {}, axis {right_axis} of the second {}",
        left.get(*left_axis).copied().unwrap_or(1), right.get(*right_axis).copied().unwrap_or(1)
    )]
    Contraction {
        /// Shape of the first operand.
        left: Vec<usize>,
        /// Shape of the second.
        right: Vec<usize>,
        /// Axis of the first.
        left_axis: usize,
        /// Axis of the second.
        right_axis: usize,
    },
    /// Subscripts of a sum of products that cannot be read, or do not fit its operands.
    #[error("subscripts {subscripts:?}: {flaw}")]
    Subscripts {
        /// What was given.
        subscripts: String,
        /// What is wrong with them.
        flaw: SubscriptsFlaw,
    },
    /// A signature of core dimensions that cannot be read.
    #[error("malformed signature{}", gufunc::malformed(text, *byte, flaw))]
    Signature {
        /// What was given, but for a text that is too long.
        text: String,
        /// First byte of the first token with which no signature continues, or the length of the text; none if the
        /// fault lies in the whole.
        byte: Option<usize>,
        /// What is wrong.
        flaw: SignatureFlaw,
    },
    /// A signature of other numbers of arguments than the function that it is to describe.
    #[error(
        "{signature} has {} and {}, the function takes {inputs} and gives {outputs}",
        gufunc::counted(counts[0], "input"), gufunc::counted(counts[1], "output")
    )]
    SignatureArguments {
        /// The signature.
        signature: String,
        /// Its inputs and outputs.
        counts: [usize; 2],
        /// Inputs of the function.
        inputs: usize,
        /// Outputs of the function.
        outputs: usize,
    },
    /// An argument with fewer axes than a signature needs.
    #[error(
        "argument {argument} of {signature} has shape {} and needs {}",
        ragged::extents(shape), gufunc::axes(*needs)
    )]
    CoreRank {
        /// Position of the argument, from 1.
        argument: usize,
        /// The signature.
        signature: String,
        /// Shape of the argument.
        shape: Vec<usize>,
        /// Core axes that are not optional.
        needs: usize,
    },
    /// Extents of one core dimension that differ.
    #[error(
        "core dimension {dim} of {signature} is {}, {extent} {}{}",
        gufunc::so_far(*so_far, *first), gufunc::found_at(*argument, *axis), gufunc::in_row(row)
    )]
    CoreExtent {
        /// The signature.
        signature: String,
        /// Name of the dimension, or the integer that fixes it.
        dim: String,
        /// Position of the argument, from 1, that has another extent; 0 for the function of the extents.
        argument: usize,
        /// Axis of that argument.
        axis: usize,
        /// Its extent there.
        extent: usize,
        /// The extent so far.
        so_far: usize,
        /// Position of the argument, from 1, that has the extent so far; 0 if the signature fixes it.
        first: usize,
        /// The first index of the loop at which they differ, where an axis has rows of lengths of their own.
        row: Option<Vec<usize>>,
    },
    /// A core dimension that nothing gives an extent.
    #[error("core dimension {dim} is in no input: give an output or extents")]
    CoreUnknown {
        /// Name of the dimension.
        dim: String,
    },
    /// A sum of core dimensions that is not an extent.
    #[error("{sum} {} for {}", gufunc::no_extent(*value), gufunc::extents(extents))]
    CoreComputed {
        /// The sum.
        sum: String,
        /// Its value, if it has one that fits.
        value: Option<i128>,
        /// The extents in it.
        extents: Vec<(String, usize)>,
    },
    /// Axes that do not suit a signature.
    #[error("{}", flaw.of_signature(signature))]
    CoreAxes {
        /// The signature.
        signature: String,
        /// What is wrong.
        flaw: CoreAxesFlaw,
    },
    /// The function of the extents refused them.
    #[error("extents {} refused: {source}", gufunc::extents(extents))]
    CoreRefused {
        /// The extents that were known.
        extents: Vec<(String, usize)>,
        /// Why.
        source: Cause,
    },
    /// An elementary function failed.
    #[error("elementary function failed at {index:?}: {source}")]
    Elementary {
        /// The first index of the loop, in row-major order, at which it failed.
        index: Vec<usize>,
        /// What it reported.
        source: Cause,
    },
    /// A call with a mask, and no values for results that are left out.
    #[error(
        "results that the mask leaves out have no values: give some by `.or(..)`, or an output to keep"
    )]
    MaskedOutput,
    /// A reduction without a result for no elements, over an axis without elements. A fold gets one by
    /// [`Deferred::or`](crate::Deferred::or); medians, quantiles and modes have none.
    #[error(
        "there is no result for no elements: axis {axis} of shape {} is reduced and has extent 0",
        ragged::extents(shape)
    )]
    EmptyReduction {
        /// The axis.
        axis: usize,
        /// Shape of the operand.
        shape: Vec<usize>,
    },
    /// A reduction without a result for no elements, all of which were left out.
    #[error(
        "there is no result at {index:?}, as all elements were left out: `.or(..)`, or the reducer `Or`, gives one"
    )]
    NothingLeft {
        /// Index of the result.
        index: Vec<usize>,
    },
    /// Several axes at once for a fold that depends on the order of the elements.
    #[error(
        "axes {axes:?} cannot be reduced at once: the result depends on the order of the elements"
    )]
    Order {
        /// The axes.
        axes: Vec<usize>,
    },
    /// An exclusive scan, whose first result is that of no elements, by a reducer that has none.
    #[error(
        "an exclusive scan of axis {axis} begins with the result of no elements, and there is none: `.or(..)`, or the \
         reducer `Or`, gives one"
    )]
    NoIdentity {
        /// The axis.
        axis: usize,
    },
    /// Offsets of segments or parts that fall or lie beyond the axis.
    #[error("offset {at} of axis {axis} is {offset}, expected {least} to {extent}")]
    InvalidOffsets {
        /// Position of the first such offset in the list.
        at: usize,
        /// The offset.
        offset: i128,
        /// The offset before it.
        least: usize,
        /// The axis.
        axis: usize,
        /// Extent of the axis.
        extent: usize,
    },
    /// A segment without elements, for which the reducer has no result.
    #[error(
        "segment {segment} of axis {axis} has no elements, and there is no result for none: `.or(..)` gives one"
    )]
    EmptySegment {
        /// Number of the first such segment.
        segment: usize,
        /// The axis.
        axis: usize,
    },
    /// Rows of operands of an elementwise operator that do not align.
    #[error(
        "operands could not be broadcast: argument {argument} has {} in row {row:?} of axis {axis}, the result so far {so_far}",
        ragged::items(*items)
    )]
    RaggedOperands {
        /// Position of the argument, from 1.
        argument: usize,
        /// Items that it has in that row.
        items: usize,
        /// Items that the arguments before it have there.
        so_far: usize,
        /// The row of the result: one index for each axis in front.
        row: Vec<usize>,
        /// The axis of the result.
        axis: usize,
    },
    /// An index that a row has not.
    #[error("index {index} is out of bounds: row {row:?} of axis {axis} has {}", ragged::items(*items))]
    RowIndex {
        /// The index.
        index: i128,
        /// The row: one index for each axis in front, of what selectors leave of these that were given for them.
        row: Vec<usize>,
        /// The axis whose rows differ in length.
        axis: usize,
        /// Items of the row.
        items: usize,
    },
    /// A row of another length than the one needed.
    #[error("row {row:?} of axis {axis} has {}, expected {expected}", ragged::items(*items))]
    RowLength {
        /// The row, as in [`Self::RowIndex`].
        row: Vec<usize>,
        /// The axis.
        axis: usize,
        /// Items of the row.
        items: usize,
        /// Items needed.
        expected: usize,
    },
    /// A row without items, for which there is no result. A fold gets one by `or`; medians, quantiles and modes have
    /// none.
    #[error("row {row:?} of axis {axis} has no items, and there is no result for none")]
    EmptyRow {
        /// The first such row: one index for each axis in front.
        row: Vec<usize>,
        /// The axis.
        axis: usize,
    },
    /// An axis that would have to cross one whose rows differ in length, or that is one where only fixed axes may be.
    #[error("{}", ragged::crossing(*axis, *crossed))]
    RaggedAxes {
        /// The axis.
        axis: usize,
        /// The axis whose rows differ in length; the same one if it may not stand there at all.
        crossed: usize,
    },
    /// Rows of a destination that share items.
    #[error("rows {} and {} of the destination share items", rows[0], rows[1])]
    OverlappingRows {
        /// The numbers of two such rows, counted in row-major order.
        rows: [usize; 2],
    },
    /// A list of offsets that is not one longer than the rows in front.
    #[error("{rows} rows need {} offsets, found {found}", rows.saturating_add(1))]
    OffsetCount {
        /// Number of rows.
        rows: usize,
        /// Number of offsets.
        found: usize,
    },
    /// A row of a list of views that does not lie inside the content.
    #[error("row {row} has {} from {start} on by step {step}: the content has {extent}", ragged::items(*items))]
    RowBounds {
        /// Number of the row.
        row: usize,
        /// Its first item.
        start: usize,
        /// Its items.
        items: usize,
        /// Distance of neighbours.
        step: isize,
        /// Items of the content.
        extent: usize,
    },
    /// An axis that is fixed where rows of their own lengths are needed.
    #[error("axis {axis} is fixed, where one whose rows may differ in length is needed")]
    FixedAxis {
        /// The axis.
        axis: usize,
    },
    /// An axis without an axis in front.
    #[error("axis {axis} has no axis in front to be merged with")]
    FirstAxis {
        /// The axis.
        axis: usize,
    },
    /// A key of no group.
    #[error("key {key} at {at} is of no group: there are {groups}")]
    Key {
        /// Position of the first such key in the list.
        at: usize,
        /// The key.
        key: usize,
        /// Number of groups.
        groups: usize,
    },
    /// A result of folded elements, as a sum, that does not fit its type. An element of an expression is
    /// [`Self::ElementOverflow`].
    #[error("the result at {index:?} does not fit {target}")]
    Overflow {
        /// Index of the result.
        index: Vec<usize>,
        /// Name of the type.
        target: &'static str,
    },
    /// Operands whose lanes should go together differ in another axis, or in rank.
    #[error(
        "lanes along axis {axis} do not go together: shape {shape:?} and shape {other:?} differ elsewhere"
    )]
    Lanes {
        /// The axis.
        axis: usize,
        /// Shape of the first operand.
        shape: Vec<usize>,
        /// Shape of the other.
        other: Vec<usize>,
    },
    /// More elements asked for than a lane has. See also [`Self::Index`].
    #[error("cannot take {count} elements along axis {axis} of extent {extent}")]
    LaneTooShort {
        /// The axis.
        axis: usize,
        /// Number of elements asked for.
        count: usize,
        /// Extent of the axis.
        extent: usize,
    },
    /// A quantile outside 0 to 1.
    #[error("quantile {quantile} does not lie between 0 and 1")]
    Quantile {
        /// What was given.
        quantile: f64,
    },
    /// Edges of bins that do not ascend, or too few of them.
    #[error("bins need two or more ascending edges: {}", edges_reason(*count, *wrong))]
    Edges {
        /// Number of edges.
        count: usize,
        /// First edge that is less than the one before, or NaN.
        wrong: Option<usize>,
    },
    /// A range that cannot be cut into bins.
    #[error("cannot cut the range from {low:?} to {high:?} into {count} bins")]
    BinRange {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Number of bins.
        count: usize,
    },
    /// Source and destination of an assignment have different shapes.
    #[error(
        "cannot assign shape {} to a destination of shape {}",
        ragged::extents(found),
        ragged::extents(expected)
    )]
    Destination {
        /// Shape of the destination.
        expected: Vec<usize>,
        /// Shape of what was assigned.
        found: Vec<usize>,
    },
    /// Tensors were to be joined, and there is none.
    #[error("there is no tensor to {}", if *stack { "stack" } else { "concatenate" })]
    NothingToJoin {
        /// Whether along a new axis.
        stack: bool,
    },
    /// Tensors to be joined differ in an extent that they must share.
    #[error(
        "cannot {} along {}axis {axis}: tensor {tensor} has shape {}, tensor 1 has {}",
        if *stack { "stack" } else { "concatenate" }, if *stack { "a new " } else { "" },
        ragged::extents(shape), ragged::extents(first)
    )]
    Join {
        /// Position of the tensor, from 1.
        tensor: usize,
        /// Its shape.
        shape: Vec<usize>,
        /// Shape of the first tensor.
        first: Vec<usize>,
        /// The axis along which to join.
        axis: usize,
        /// Whether that axis is a new one.
        stack: bool,
    },
    /// `order` is not a permutation of the axes.
    #[error("{order:?} is not a permutation of {rank} axes")]
    Permutation {
        /// What was given.
        order: Vec<usize>,
        /// Number of axes.
        rank: usize,
    },
    /// A tensor of a rank other than the one needed.
    #[error("expected a tensor of rank {expected}, found shape {shape:?}")]
    ExpectedRank {
        /// Rank needed.
        expected: usize,
        /// Shape of the tensor.
        shape: Vec<usize>,
    },
    /// An axis that does not exist. See also [`Self::Permutation`], [`Self::AxisRange`], [`Self::CoreAxes`] and
    /// [`Self::ExpectedRank`].
    #[error("axis {axis} does not exist: the rank is {rank}")]
    Axis {
        /// What was given.
        axis: usize,
        /// Number of axes.
        rank: usize,
    },
    /// A range of axes that runs backwards or beyond the rank.
    #[error("{axes:?} is not a range of axes: the rank is {rank}")]
    AxisRange {
        /// What was given.
        axes: Range<usize>,
        /// Number of axes.
        rank: usize,
    },
    /// One axis given twice where two are needed. See also [`Self::Permutation`] and [`Self::CoreAxes`].
    #[error("axis {axis} was given twice")]
    RepeatedAxis {
        /// The axis.
        axis: usize,
    },
    /// A list with one item per axis has the wrong length. See also [`Self::ExpectedRank`] and [`Self::Lanes`].
    #[error("expected {expected} {what}, one per axis, found {found}")]
    Rank {
        /// What the list holds.
        what: &'static str,
        /// Number of axes.
        expected: usize,
        /// Length of the list.
        found: usize,
    },
    /// A list with one item for each index of an axis has the wrong length.
    #[error("axis {axis} has extent {extent} and needs as many {what}, found {found}")]
    ListLength {
        /// What the list holds.
        what: &'static str,
        /// The axis.
        axis: usize,
        /// Its extent.
        extent: usize,
        /// Length of the list.
        found: usize,
    },
    /// An index outside its axis, of a range the first. See also [`Self::IndexAt`], [`Self::RowIndex`],
    /// [`Self::LaneTooShort`] and [`Self::InvalidSparse`].
    #[error("index {index} is out of bounds: axis {axis} has extent {extent}{}", no_wrap(*index, *extent))]
    Index {
        /// Axis of the view.
        axis: usize,
        /// The index.
        index: i128,
        /// Extent of the axis.
        extent: usize,
    },
    /// An index outside its axis, in a list of indexes.
    #[error(
        "index {index} for axis {axis}, at {at:?} of the list, is out of bounds: the extent is {extent}"
    )]
    IndexAt {
        /// Place of the first such index in the list.
        at: Vec<usize>,
        /// Axis of the tensor.
        axis: usize,
        /// The number for that axis.
        index: usize,
        /// Extent of the axis.
        extent: usize,
    },
    /// An index that stands twice in a list, at which different values are to be written.
    #[error(
        "index {index:?} stands at {first:?} and at {second:?} of the list, and can be written once: `fold_at` takes both"
    )]
    RepeatedIndex {
        /// The index in the tensor.
        index: Vec<usize>,
        /// Its place in the list.
        first: Vec<usize>,
        /// The first place that repeats one before it.
        second: Vec<usize>,
    },
    /// A range of numbers without a count.
    #[error("a range from {} to {} by {} {what}", Foreign(start), Foreign(stop), Foreign(step))]
    Range {
        /// First number, rendered.
        start: String,
        /// Where it would end.
        stop: String,
        /// Distance of neighbours.
        step: String,
        /// What is wrong with them.
        what: &'static str,
    },
    /// A range with step 0.
    #[error("a range on axis {axis} has step 0")]
    ZeroStep {
        /// Axis of the view.
        axis: usize,
    },
    /// A cyclic pattern with period 0.
    #[error("axis {axis} has period 0")]
    ZeroPeriod {
        /// Axis of the layout.
        axis: usize,
    },
    /// A sliding window that is empty or longer than its axis.
    #[error("a window of {window} does not fit axis {axis} of extent {extent}")]
    Window {
        /// Axis of the view.
        axis: usize,
        /// Extent of the window.
        window: usize,
        /// Extent of the axis.
        extent: usize,
    },
    /// A coordinate that is that of a neighbour, where derivatives divide by their distance.
    #[error(
        "coordinate {at} of axis {axis} is that of a neighbour: derivatives divide by their distance"
    )]
    RepeatedCoordinate {
        /// Axis of the view.
        axis: usize,
        /// Position of the first coordinate that equals one of the two before it.
        at: usize,
    },
    /// Storage in blocks has other numbers of axes than its blocks, a block without elements, blocks that begin
    /// farther apart than they are long or are of another extent, or more elements than addresses.
    #[error("blocks of {block:?} do not make storage of {extents:?}")]
    Blocks {
        /// Extents of the whole.
        extents: Vec<usize>,
        /// Extents of a block.
        block: Vec<usize>,
    },
    /// A block of storage that begins before the one before it ends, beyond the end of its axis, or, if it is the
    /// first, not at 0.
    #[error("block {number} of an axis of {extent} cannot begin at {start}")]
    BlockStart {
        /// Number of the block.
        number: usize,
        /// Where it begins.
        start: usize,
        /// Extent of the axis.
        extent: usize,
    },
    /// A reshape that changes the number of elements.
    #[error("cannot reshape {from:?} to {to:?}: {} elements vs {}", count(from), count(to))]
    Reshape {
        /// Shape of the view.
        from: Vec<usize>,
        /// Shape asked for.
        to: Vec<usize>,
    },
    /// The only element of a tensor that has more, or none.
    #[error("shape {shape:?} has {} elements, and the only one was asked for", count(shape))]
    NotSingle {
        /// The shape.
        shape: Vec<usize>,
    },
    /// An axis to be left out that has other indexes than 0.
    #[error("axis {axis} has extent {extent}: only an axis of extent 1 can be removed")]
    Removed {
        /// The axis.
        axis: usize,
        /// Its extent.
        extent: usize,
    },
    /// An extent that cannot be inferred from the others.
    #[error("cannot infer one extent of a reshape of {from:?}: {}", infer_reason(from, to, *missing))]
    Infer {
        /// Shape of the view.
        from: Vec<usize>,
        /// The extents that were given.
        to: Vec<usize>,
        /// Number of extents left to infer.
        missing: usize,
    },
    /// A [`reshape_strided`](crate::Tensor::reshape_strided) that would need a further stage.
    #[error("cannot reshape {from:?} to {to:?} by strides alone: strides {strides:?}")]
    NeedsStage {
        /// Shape of the view.
        from: Vec<usize>,
        /// Shape asked for.
        to: Vec<usize>,
        /// Strides of the view, empty if it has none.
        strides: Vec<isize>,
    },
    /// A view with axes of an expression of scalars alone, which has none.
    #[error(
        "cannot view scalars alone as shape {to:?}: make a tensor of them, by `Tensor::constant`, or box them, \
         by `.boxed()`"
    )]
    ScalarView {
        /// Shape asked for.
        to: Vec<usize>,
    },
    /// The product of the extents other than 0 does not fit in `isize`. Without extents of 0 that is the
    /// number of elements; with one there are none, but strides are products of the others.
    #[error("shape {shape:?} {}", overflow(shape))]
    ShapeOverflow {
        /// The shape.
        shape: Vec<usize>,
    },
    /// An address does not fit in `isize`.
    #[error("address {address} does not fit: shape {shape:?}")]
    AddressOverflow {
        /// The address.
        address: i128,
        /// Shape of the map.
        shape: Vec<usize>,
    },
    /// An index would map below address 0.
    #[error("lowest address {lowest} is negative: offset {offset}, shape {shape:?}")]
    NegativeAddress {
        /// The lowest address.
        lowest: isize,
        /// Address of index 0.
        offset: isize,
        /// Shape of the map.
        shape: Vec<usize>,
    },
    /// Addresses beyond the end of the storage.
    #[error("addresses {span:?} reach beyond the storage of length {len}")]
    OutOfSpan {
        /// Addresses the map reaches.
        span: Range<usize>,
        /// Length of the storage.
        len: usize,
    },
    /// The number of elements given does not fit the shape.
    #[error("shape {shape:?} needs {expected} elements, found {found}")]
    Length {
        /// The shape.
        shape: Vec<usize>,
        /// Elements it needs.
        expected: usize,
        /// Elements found.
        found: usize,
    },
    /// A nested list whose rows, or lists at one depth within them, differ in length.
    #[error(
        "row {row} of a nested list has {found} elements, the first has {expected}: `Ragged::from_nested` takes such rows"
    )]
    Ragged {
        /// First row that differs, within the list that holds it.
        row: usize,
        /// Length of the first row.
        expected: usize,
        /// Length of that row.
        found: usize,
    },
    /// Writing through a map that sends two indexes to one address.
    #[error(
        "cannot write through this view, as axis {axis} repeats elements: a copy by `.eval()?` can be written"
    )]
    NotInjective {
        /// First axis whose prefix is not injective.
        axis: usize,
    },
    /// The inverse of a map does not give the index back.
    #[error("address {local} of index {global:?} does not lead back to it")]
    NotInvertible {
        /// The index.
        global: Vec<usize>,
        /// The address it maps to.
        local: usize,
    },
    /// Entries that do not make sparse storage.
    #[error("invalid sparse structure at entry {at}: {what}")]
    InvalidSparse {
        /// Ordinal of the first such entry, as they were given.
        at: usize,
        /// What is wrong with it.
        what: SparseFlaw,
    },
    /// A dense result where none was asked for.
    #[error("{}", densified(*stored, *dense))]
    WouldDensify {
        /// Entries that the sparse operands store.
        stored: usize,
        /// Elements of the dense result.
        dense: usize,
    },
    /// Memory for a result, or to compute it, could not be had.
    #[error("could not allocate {bytes} bytes")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: usize,
    },
    /// Storage failed to read or write an element.
    #[error("{source}{}", at(index.as_deref()))]
    Storage {
        /// The index that was asked for, or the first index of a result whose element needs this address, where it is
        /// known.
        index: Option<Vec<usize>>,
        /// What the storage reported.
        source: StorageError,
    },
    /// A checked conversion of an element failed.
    #[error("cannot convert {} at index {index:?} to {target}", Foreign(value))]
    Cast {
        /// Index of the first such element.
        index: Vec<usize>,
        /// Its value.
        value: String,
        /// Type asked for.
        target: &'static str,
    },
    /// Integer division or remainder by zero.
    #[error("division by zero at index {index:?}")]
    Arithmetic {
        /// Index of the first such element.
        index: Vec<usize>,
    },
    /// A checked sum, difference or product of elements that does not fit its type. A result of folded elements is
    /// [`Self::Overflow`].
    #[error("the element at {index:?} does not fit {target}")]
    ElementOverflow {
        /// Index of the first such element.
        index: Vec<usize>,
        /// Name of the type.
        target: &'static str,
    },
    /// An expression or a storage nested too deeply through boxes.
    #[error(
        "{depth} boxes lie within one another and {limit} may: evaluate a part and go on from the result"
    )]
    TooDeep {
        /// Depth reached.
        depth: usize,
        /// Largest depth allowed.
        limit: usize,
    },
    /// A file header is malformed.
    #[error("malformed header at byte {offset}: expected {expected}")]
    Header {
        /// Position in the file, in bytes.
        offset: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// A file header claims to be larger than allowed.
    #[error("header claims {claimed} bytes, the limit is {limit}")]
    HeaderTooLarge {
        /// Bytes claimed.
        claimed: u64,
        /// Largest size accepted.
        limit: u64,
    },
    /// A file ends before its data does.
    #[error("file is truncated: expected {expected} bytes, found {found}")]
    Truncated {
        /// Bytes the header promises.
        expected: u64,
        /// Bytes present.
        found: u64,
    },
    /// A file goes on after its data.
    #[error("file has trailing data: expected {expected} bytes, found at least {found}")]
    TrailingData {
        /// Bytes the header promises.
        expected: u64,
        /// Bytes present, as far as was read.
        found: u64,
    },
    /// A line of a text file does not read as it should.
    #[error("line {line}: expected {expected}, found {found:?}")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// What should stand there.
        expected: &'static str,
        /// What stands there, shortened; empty at the end of the file.
        found: String,
    },
    /// An index in a text file, where indexes count from 1, lies outside its axis.
    #[error("line {line}: index {index} of axis {axis} is not in 1..={extent}")]
    LineIndex {
        /// Number of the line, from 1.
        line: usize,
        /// The axis.
        axis: usize,
        /// The index as it stands in the file.
        index: usize,
        /// Extent of the axis.
        extent: usize,
    },
    /// A file holds fewer or more entries than it declares.
    #[error("expected {expected} entries, found {found} at line {line}")]
    EntryCount {
        /// Number that was declared.
        expected: usize,
        /// Number found, as far as was read.
        found: usize,
        /// Line where the reading ended.
        line: usize,
    },
    /// A dense tensor where entries are looked at.
    #[error(
        "{what} needs entries, argument {argument} is not sparse: `to_sparse(fill)` makes it so"
    )]
    NotSparse {
        /// What looks at entries.
        what: &'static str,
        /// Position of the argument, from 1.
        argument: usize,
    },
    /// A sparse tensor whose fill value is not zero where only entries are looked at.
    #[error("{what} needs a fill value of zero, argument {argument} has another")]
    FillNotZero {
        /// What looks at entries only.
        what: &'static str,
        /// Position of the argument, from 1.
        argument: usize,
    },
    /// A matrix without the symmetry that was asked for.
    #[error("the matrix is not {symmetry}: element {index:?} differs from its mirror image")]
    Asymmetric {
        /// Name of the symmetry.
        symmetry: &'static str,
        /// Index of the first such entry.
        index: [usize; 2],
    },
    /// A byte that is no value of its type.
    #[error("byte {byte:#04x} at index {index} is not a valid value")]
    InvalidValue {
        /// Position of the element in the file's order.
        index: usize,
        /// The byte.
        byte: u8,
    },
    /// An element type other than the one asked for, or one that is not supported.
    #[error("expected elements of type {expected}, found {}", Foreign(found))]
    ElementType {
        /// What was asked for.
        expected: &'static str,
        /// What was found.
        found: String,
    },
    /// Bytes whose position does not suit the alignment of the element type.
    #[error("byte offset {offset} is not aligned to {align}")]
    Misaligned {
        /// Alignment of the element type, in bytes.
        align: usize,
        /// Position, in bytes.
        offset: usize,
    },
    /// A view that is not memory with an offset and strides, as other libraries want it.
    #[error("no strides describe this view: {}{reason}", of_axis(*axis))]
    NotStrided {
        /// Stages of the map.
        stages: usize,
        /// The axis that has no stride, if it is one.
        axis: Option<usize>,
        /// What is in the way.
        reason: &'static str,
    },
    /// A file of several arrays, or one of them, is not what its format says.
    #[error("{}: {}", files::part(format, name.as_deref()), Foreign(reason))]
    Malformed {
        /// The format.
        format: &'static str,
        /// The array, if it is one.
        name: Option<String>,
        /// What is wrong.
        reason: String,
    },
    /// No array of a file has this name.
    #[error("no array `{}` in this {format}, which has {}", Foreign(name), files::names(found, *count))]
    NoArray {
        /// The format.
        format: &'static str,
        /// The name that was asked for.
        name: String,
        /// The first names that there are.
        found: Vec<String>,
        /// How many there are.
        count: usize,
    },
    /// Elements of another library's array that are there and have no value.
    #[error("{count} elements are null: a mask beside the values can say which")]
    Nulls {
        /// How many.
        count: usize,
    },
    /// The operating system reported an error.
    #[error("{0}")]
    Io(IoError),
}

impl Error {
    /// A clone, which programs take from the library; the derived function is compiled wherever it is used.
    #[inline(never)]
    pub(crate) fn copy(&self) -> Self {
        self.clone()
    }
}

/// What is wrong with the subscripts of a sum of products.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubscriptsFlaw {
    /// A character that means nothing, or nothing there.
    #[error("expected a letter, `,`, `...` or one `->` at byte {at}, found {found:?}")]
    Character {
        /// Its position, in bytes.
        at: usize,
        /// The character.
        found: char,
    },
    /// More than one ellipsis in one operand, or in the result.
    #[error("a second `...` begins at byte {at}")]
    Ellipses {
        /// Position of the second, in bytes.
        at: usize,
    },
    /// They name the axes of more operands than there are, or of fewer.
    #[error("there are {operands} operands, and they name axes of {terms}")]
    Operands {
        /// Number of operands that they name axes of.
        terms: usize,
        /// Number of operands.
        operands: usize,
    },
    /// An operand has not as many axes as it has letters, or fewer where the ellipsis stands for others.
    #[error(
        "operand {operand} has shape {shape:?}, and its letters name {}{letters} axes",
        if *ellipsis { "at least " } else { "" }
    )]
    Rank {
        /// Position of the operand, from 1.
        operand: usize,
        /// Number of its letters.
        letters: usize,
        /// Whether it has an ellipsis too.
        ellipsis: bool,
        /// Shape of the operand.
        shape: Vec<usize>,
    },
    /// A letter of the result that no operand has.
    #[error("`{label}` of the result is in no operand")]
    Unknown {
        /// The letter.
        label: char,
    },
    /// A letter twice in the result.
    #[error("`{label}` stands twice in the result")]
    Repeated {
        /// The letter.
        label: char,
    },
    /// A result without an ellipsis, where those of operands stand for axes.
    #[error("the result needs a `...` for the {axes} axes that those of operands stand for")]
    NoEllipsis {
        /// Number of these axes.
        axes: usize,
    },
}

/// What is wrong with an entry of a sparse structure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SparseFlaw {
    /// Its address lies outside.
    #[error("address {address} is beyond the length {len}")]
    Beyond {
        /// The address.
        address: usize,
        /// Length of the storage.
        len: usize,
    },
    /// A number of its index lies outside.
    #[error("index {index} is out of bounds: axis {axis} has extent {extent}")]
    Index {
        /// The axis.
        axis: usize,
        /// The number.
        index: usize,
        /// Extent of the axis.
        extent: usize,
    },
    /// Its address is not above the one before.
    #[error("address {address} follows {previous}")]
    Order {
        /// Address of the entry before.
        previous: usize,
        /// The address.
        address: usize,
    },
    /// Its address was given before, and duplicates are refused.
    #[error("address {address} was given before")]
    Duplicate {
        /// The address.
        address: usize,
    },
    /// Its index was given before, and duplicates are refused.
    #[error("index {index:?} was given before")]
    Repeated {
        /// The index.
        index: Vec<usize>,
    },
    /// There is one without the other.
    #[error("there are {addresses} addresses and {values} values")]
    Counts {
        /// Number of addresses.
        addresses: usize,
        /// Number of values.
        values: usize,
    },
}

/// A storage could not read or write one element.
#[derive(Clone, thiserror::Error)]
#[error("storage failed at address {address}: {}", Foreign(source))]
pub struct StorageError {
    /// Address of the element, in elements.
    pub address: usize,
    /// What went wrong.
    pub source: Arc<dyn std::error::Error + Send + Sync>,
}

impl StorageError {
    /// An error at `address` with any cause, a string for example.
    pub fn new(
        address: usize,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { address, source: Arc::from(source.into()) }
    }

    /// The same error at another address.
    pub(crate) fn at(self, address: usize) -> Self {
        Self { address, ..self }
    }

    /// The error of an address that a storage of `len` elements does not have.
    #[cold]
    pub(crate) fn beyond(address: usize, len: usize) -> Self {
        Self::new(address, format!("beyond the {len} elements"))
    }
}

impl Debug for StorageError {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StorageError")
            .field("address", &self.address)
            .field("source", &Foreign(format_args!("{:?}", self.source)))
            .finish()
    }
}

impl PartialEq for StorageError {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl From<StorageError> for Error {
    fn from(source: StorageError) -> Self {
        Self::Storage { index: None, source }
    }
}

/// An input or output error that can be cloned and compared.
#[derive(Clone, thiserror::Error)]
#[error("{}", Foreign(.0))]
pub struct IoError(Arc<std::io::Error>);

impl IoError {
    /// Kind of the error.
    pub fn kind(&self) -> std::io::ErrorKind {
        self.0.kind()
    }
}

impl Debug for IoError {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("IoError").field(&Foreign(format_args!("{:?}", self.0))).finish()
    }
}

impl PartialEq for IoError {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.to_string() == other.to_string()
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Io(IoError(Arc::new(error)))
    }
}

/// What a reason begins with.
fn of_axis(axis: Option<usize>) -> String {
    axis.map_or(String::new(), |axis| format!("axis {axis} "))
}

fn broadcast_reason(from: &[usize], to: &[usize], axis: usize) -> String {
    let missing = to.len().saturating_sub(from.len());
    match (axis.checked_sub(missing).and_then(|k| from.get(k)), to.get(axis)) {
        _ if to.len() < from.len() => format!("the rank falls from {} to {}", from.len(), to.len()),
        (Some(source), Some(0)) => {
            format!("axis {axis} has extent {source}, and only extent 0 goes to 0")
        }
        (Some(source), Some(target)) => {
            format!("axis {axis} has extent {source}, and {target} is not a multiple of it")
        }
        _ => format!("axis {axis} is new and empty"),
    }
}

fn infer_reason(from: &[usize], to: &[usize], missing: usize) -> String {
    if missing != 1 {
        return format!("{missing} are left to infer");
    }
    match to.contains(&0) {
        true => format!("nothing follows from {to:?}, which has no elements"),
        false => {
            format!("{} elements are not a multiple of the {} of {to:?}", count(from), count(to))
        }
    }
}

fn stretch_reason(from: &[usize], to: &[usize], axis: usize, left: bool) -> String {
    if to.len() < from.len() {
        return format!("the rank falls from {} to {}", from.len(), to.len());
    }
    let extent = aligned(from, to, axis, left);
    let target = to.get(axis).copied().unwrap_or(1);
    format!("axis {axis} has extent {extent}, and only extent 1 stretches to {target}")
}

/// Extent of `shape` on axis `axis` of what `shape` and `other` are aligned to.
fn aligned(shape: &[usize], other: &[usize], axis: usize, left: bool) -> usize {
    let missing = if left { 0 } else { other.len().saturating_sub(shape.len()) };
    axis.checked_sub(missing).and_then(|k| shape.get(k)).copied().unwrap_or(1)
}

/// What would become dense, and how to ask for that or for what was meant.
fn densified(stored: usize, dense: usize) -> String {
    match stored {
        0 => format!(
            "nothing is stored, and {dense} dense elements would be computed: `to_sparse(fill)` keeps those that differ \
             from `fill`, `densely` or, instead of `eval_sparse`, `eval` asks for all"
        ),
        _ => format!(
            "{stored} stored entries would become {dense} dense elements: keep to entries by `zip_stored`, or ask for \
             that by `densely` or, instead of `eval_sparse`, `eval`"
        ),
    }
}

/// What to write for an index that was to count from the end.
fn no_wrap(index: i128, extent: usize) -> String {
    match (index < 0, index.saturating_add(extent as i128)) {
        (true, wanted @ 0..) => {
            format!(", and negative indexes do not wrap: extent - {} is {wanted}", -index)
        }
        (true, _) => ", and negative indexes do not wrap".into(),
        _ => String::new(),
    }
}

fn edges_reason(count: usize, wrong: Option<usize>) -> String {
    match wrong {
        Some(edge) => format!("edge {edge} of {count} is NaN or less than the one before"),
        None => format!("found {count}"),
    }
}

fn count(shape: &[usize]) -> String {
    match shape.iter().try_fold(1_u128, |n, &extent| n.checked_mul(extent as u128)) {
        Some(count) => count.to_string(),
        None => "too many".into(),
    }
}

fn overflow(shape: &[usize]) -> &'static str {
    match shape.contains(&0) {
        true => "has extents other than 0 that do not fit in isize together",
        false => "has more elements than fit in isize",
    }
}

fn at(index: Option<&[usize]>) -> String {
    index.map(|index| format!(", index {index:?}")).unwrap_or_default()
}
