//! What frames of Zstandard say of themselves, which codecs believe: they ask for as much memory before they decode.

const MAGIC: u32 = 0xfd2f_b528;
/// Magic numbers of frames that are skipped, but for the last four bits.
const SKIPPED: u32 = 0x184d_2a50;
/// Most bytes that a block becomes.
const BLOCK_BYTES: u64 = 1 << 17;

/// The most bytes that frames, one after another, become; `None` if they are malformed.
///
/// Follows RFC 8878, sections 3.1.1 and 3.1.2.
pub(super) fn bound(mut frames: &[u8]) -> Option<u64> {
    let mut bytes = 0_u64;
    while !frames.is_empty() {
        let magic = number(take(&mut frames, 4)?) as u32;
        if magic & !0xf == SKIPPED {
            let size = number(take(&mut frames, 4)?);
            take(&mut frames, usize::try_from(size).ok()?)?;
            continue;
        }
        let descriptor = take(&mut frames, 1)?[0];
        if magic != MAGIC {
            return None;
        }
        let single = descriptor >> 5 & 1 == 1;
        let window = if single { None } else { Some(u64::from(take(&mut frames, 1)?[0])) };
        take(&mut frames, [0, 1, 2, 4][usize::from(descriptor & 3)])?;
        let size = match descriptor >> 6 {
            0 => usize::from(single),
            flag => 1 << flag,
        };
        let more = if size == 2 { 256 } else { 0 };
        let claimed = number(take(&mut frames, size)?).saturating_add(more);
        let window = window.map_or(claimed, |byte| {
            let base = 1_u64 << (10 + (byte >> 3));
            base + base / 8 * (byte & 7)
        });
        let blocks = skip_blocks(&mut frames)?;
        if descriptor >> 2 & 1 == 1 {
            take(&mut frames, 4)?;
        }
        let own = if size > 0 { claimed } else { blocks.saturating_mul(window.min(BLOCK_BYTES)) };
        bytes = bytes.saturating_add(own);
    }
    Some(bytes)
}

/// Passes over the blocks of a frame, and counts them.
fn skip_blocks(frames: &mut &[u8]) -> Option<u64> {
    for blocks in 1.. {
        let header = number(take(frames, 3)?);
        let stored = match header >> 1 & 3 {
            // One byte, repeated.
            1 => 1,
            0 | 2 => usize::try_from(header >> 3).ok()?,
            _ => return None,
        };
        take(frames, stored)?;
        if header & 1 == 1 {
            return Some(blocks);
        }
    }
    None
}

fn take<'b>(from: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, rest) = from.split_at_checked(count)?;
    *from = rest;
    Some(taken)
}

/// Up to eight bytes, the least first.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(descriptor: u8, fields: &[u8], blocks: &[u8]) -> Vec<u8> {
        [&MAGIC.to_le_bytes()[..], &[descriptor], fields, blocks].concat()
    }

    /// A block of one repeated byte, so many times.
    fn repeated(count: u32, last: bool) -> Vec<u8> {
        let header = count << 3 | 1 << 1 | u32::from(last);
        [&header.to_le_bytes()[..3], &[7]].concat()
    }

    #[test]
    fn frames_are_added_up() {
        let known = frame(0x20, &[100], &repeated(100, true));
        let skipped = [&(SKIPPED | 3).to_le_bytes()[..], &[2, 0, 0, 0, 9, 9]].concat();
        let large = frame(0xe0, &(1_u64 << 50).to_le_bytes(), &repeated(9, true));
        assert_eq!(bound(&[]), Some(0));
        assert_eq!(bound(&known), Some(100));
        assert_eq!(bound(&skipped), Some(0));
        assert_eq!(bound(&[&skipped[..], &known, &large].concat()), Some((1 << 50) + 100));
        // Two bytes count from 256 on.
        assert_eq!(bound(&frame(0x60, &[1, 0], &repeated(257, true))), Some(257));
        // With a checksum, which is not looked at.
        let checked = [frame(0x24, &[3], &repeated(3, true)), vec![1, 2, 3, 4]].concat();
        assert_eq!(bound(&checked), Some(3));
    }

    #[test]
    fn frames_without_a_size_have_that_of_their_blocks() {
        let blocks = [repeated(1 << 17, false), repeated(1 << 17, false), repeated(1, true)];
        // Windows of 128 KiB, of 1 KiB, and of more than blocks become.
        for (window, each) in [(7 << 3, 1 << 17), (0, 1 << 10), (31 << 3, 1 << 17)] {
            assert_eq!(bound(&frame(0, &[window], &blocks.concat())), Some(3 * each));
        }
    }

    #[test]
    fn malformed_frames_are_none() {
        let whole = frame(0x24, &[3], &[&repeated(3, true)[..], &[1, 2, 3, 4]].concat());
        for end in 1..whole.len() {
            assert_eq!(bound(&whole[..end]), None, "{end}");
        }
        assert_eq!(bound(&frame(0x20, &[1], &[7, 0, 0, 0])), None);
        assert_eq!(bound(b"PK\x03\x04 and so on"), None);
    }
}
