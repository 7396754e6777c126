//! What a storage that breaks a promise is reported as.

/// A promise that a storage broke, with the numbers that show it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// A method panicked where `try_read` (or `try_write`) reports no error.
    #[error("`{method}` panicked, first address {address}")]
    Panicked {
        /// Name of the method.
        method: &'static str,
        /// Its argument, the first of several; 0 if it has none.
        address: usize,
    },
    /// `len` changed while the storage was borrowed, or by writing elements.
    #[error("`len` was {before}, then {after}")]
    Len {
        /// First answer.
        before: usize,
        /// Later answer.
        after: usize,
    },
    /// `is_empty` is not `len() == 0`.
    #[error("`is_empty` disagrees with a length of {len}")]
    IsEmpty {
        /// What `len` says.
        len: usize,
    },
    /// An address gave two different elements, or an element and then an error.
    #[error("address {address} holds one element now and another later")]
    Unstable {
        /// The address.
        address: usize,
    },
    /// `read` and `try_read` give different elements.
    #[error("`read` disagrees with `try_read` at address {address}")]
    Read {
        /// The address.
        address: usize,
    },
    /// An error names an address that was not asked for.
    #[error("the error of `{method}` for address {address} names address {named}")]
    ErrorAddress {
        /// Name of the method.
        method: &'static str,
        /// The address asked for, the first of several.
        address: usize,
        /// The address in the error.
        named: usize,
    },
    /// A slice is not as long as the storage.
    #[error("`{method}` gives {found} elements of {len}")]
    SliceLen {
        /// Name of the method.
        method: &'static str,
        /// What `len` says.
        len: usize,
        /// Length of the slice.
        found: usize,
    },
    /// A slice holds another element than `try_read` gives.
    #[error("`{method}` disagrees with `try_read` at address {address}")]
    Slice {
        /// Name of the method.
        method: &'static str,
        /// The address.
        address: usize,
    },
    /// Blocks whose sides do not make the length of the storage, or that begin where they cannot.
    #[error("blocks of {block:?} in {extents:?} do not make a length of {len}, or begin elsewhere")]
    BlockSides {
        /// What `extents` gives.
        extents: Vec<usize>,
        /// What `block` gives.
        block: Vec<usize>,
        /// What `len` says.
        len: usize,
    },
    /// A block has not as many elements as its extents.
    #[error("block {index:?} has {found} elements of {len}")]
    BlockLen {
        /// Index of the block.
        index: Vec<usize>,
        /// Elements it has.
        found: usize,
        /// Elements it should have.
        len: usize,
    },
    /// A block holds another element than `try_read` gives.
    #[error("block {index:?} disagrees with `try_read` at address {address}")]
    Block {
        /// Index of the block.
        index: Vec<usize>,
        /// The first such address in it.
        address: usize,
    },
    /// A run holds another element than `try_read` gives, or was not written there.
    #[error("`read_run` from {start} by {step} for {count} disagrees at position {position}")]
    Run {
        /// First address.
        start: usize,
        /// Distance of addresses.
        step: isize,
        /// Length of the run.
        count: usize,
        /// First position of the run that is wrong.
        position: usize,
    },
    /// A gather holds another element than `try_read` gives, or was not written there.
    #[error("`read_at` of {count} addresses disagrees at position {position}, address {address}")]
    Gather {
        /// Number of addresses.
        count: usize,
        /// First position that is wrong.
        position: usize,
        /// The address there.
        address: usize,
    },
    /// A method for many elements reports an error though each of them can be read or written.
    #[error("`{method}` fails, first address {address}, where every element alone succeeds")]
    Fails {
        /// Name of the method.
        method: &'static str,
        /// First address asked for.
        address: usize,
    },
    /// A method for many elements reports no error though one of them cannot be read or written.
    #[error("`{method}` succeeds, first address {address}, where an element alone fails")]
    Succeeds {
        /// Name of the method.
        method: &'static str,
        /// First address asked for.
        address: usize,
    },
    /// `entries` gives another number of entries than `count` says.
    #[error("`entries` gives {found} entries from ordinal {from}, {expected} expected")]
    EntryCount {
        /// First ordinal asked for.
        from: usize,
        /// What fits the slices and the count.
        expected: usize,
        /// What was returned.
        found: usize,
    },
    /// Entries do not ascend, or one is there twice.
    #[error("entry {ordinal} has address {address} after {previous}")]
    EntryOrder {
        /// Ordinal of the entry.
        ordinal: usize,
        /// Address of the entry before.
        previous: usize,
        /// Its address.
        address: usize,
    },
    /// An entry lies beyond the storage.
    #[error("entry {ordinal} has address {address}, the length is {len}")]
    EntryRange {
        /// Ordinal of the entry.
        ordinal: usize,
        /// Its address.
        address: usize,
        /// What `len` says.
        len: usize,
    },
    /// An entry holds another element than `try_read` gives.
    #[error("entry {ordinal} disagrees with `try_read` at address {address}")]
    EntryValue {
        /// Ordinal of the entry.
        ordinal: usize,
        /// Its address.
        address: usize,
    },
    /// Entries depend on how many are asked for at once.
    #[error("entry {ordinal} is another one when entries are asked for from {from} by {room}")]
    EntryChunk {
        /// Ordinal of the entry.
        ordinal: usize,
        /// First ordinal asked for.
        from: usize,
        /// Entries asked for at once.
        room: usize,
    },
    /// An address without an entry holds another element than the fill.
    #[error("address {address} has no entry and is not the fill value")]
    Fill {
        /// The address.
        address: usize,
    },
    /// `rank` is not the number of entries below an address.
    #[error("`rank` of {address} is {found}, {expected} entries lie below")]
    Rank {
        /// The address.
        address: usize,
        /// Entries below it.
        expected: usize,
        /// What `rank` says.
        found: usize,
    },
    /// An element written is not the one read.
    #[error("address {address} does not hold what `{method}` wrote there")]
    Written {
        /// Name of the method.
        method: &'static str,
        /// The address.
        address: usize,
    },
    /// Writing changed an element elsewhere.
    #[error("`{method}`, first address {written}, changed address {address}")]
    Elsewhere {
        /// Name of the method.
        method: &'static str,
        /// First address written.
        written: usize,
        /// Address that changed.
        address: usize,
    },
    /// The fill value is not recognised, so that entries are made of elements that are equal to it.
    #[error("`is_fill` denies the fill value")]
    IsFill,
    /// A wrapper answers a call by others of the storage below, or without it.
    #[error("`{method}` of the wrapper arrives as {found:?} below")]
    NotForwarded {
        /// Name of the method.
        method: &'static str,
        /// Methods that were called below instead, in order.
        found: Vec<&'static str>,
    },
}

impl Violation {
    /// The method that it names, as the same law holds for several.
    pub(super) fn method(&self) -> &'static str {
        match self {
            Self::Panicked { method, .. }
            | Self::ErrorAddress { method, .. }
            | Self::SliceLen { method, .. }
            | Self::Slice { method, .. }
            | Self::Fails { method, .. }
            | Self::Succeeds { method, .. }
            | Self::NotForwarded { method, .. }
            | Self::Written { method, .. }
            | Self::Elsewhere { method, .. } => method,
            _ => "",
        }
    }
}
