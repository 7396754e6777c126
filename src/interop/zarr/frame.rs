//! What a frame of Zstandard says of itself, which codecs believe.

/// Bytes of a header that say how much there is.
pub(super) const HEADER_BYTES: usize = 18;
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The bytes that a frame says it becomes, if it is one and says so.
pub(super) fn content(header: &[u8]) -> Option<u64> {
    let (descriptor, rest) = header.strip_prefix(&MAGIC)?.split_first()?;
    let single = descriptor >> 5 & 1 == 1;
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size = match descriptor >> 6 {
        0 => usize::from(single),
        flag => 1 << flag,
    };
    let field = rest.get(usize::from(!single) + dictionary..)?.get(..size)?;
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(field);
    let more = if size == 2 { 256 } else { 0 };
    (size > 0).then(|| u64::from_le_bytes(bytes).saturating_add(more))
}
