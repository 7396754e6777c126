//! The law that a map and its inverse agree, checked index by index.

use super::AddressMap;
use crate::error::{Error, Result};
use crate::shape::Index;
use std::collections::BTreeMap;

/// Most indexes that are tried, and most addresses.
const TRIED: usize = 4096;
/// How many unexpected indexes of one address are looked at.
const EXTRA: usize = 64;

impl AddressMap {
    /// Checks that [`Self::to_global`] is the inverse image of [`Self::to_local`]: every index comes
    /// back from its address, ascending and once, and nothing else does.
    ///
    /// Up to 4096 indexes and addresses are tried all; of more, that many spread evenly.
    ///
    /// # Errors
    ///
    /// [`Error::NotInvertible`] with the first index that is missing or wrong.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// AddressMap::row_major([4, 3])?.rotate([1, 2])?.check_invertible()?;
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn check_invertible(&self) -> Result<()> {
        let (shape, span) = (self.shape(), self.span());
        let mut images = BTreeMap::<usize, Vec<Index>>::new();
        for address in spread(span.len()) {
            images.insert(span.start + address, Vec::new());
        }
        for position in spread(self.count()) {
            let index = shape.unravel(position);
            images.entry(self.to_local(&index)?).or_default().push(index);
        }
        images.iter().try_for_each(|(&address, known)| self.check_image(address, known))
    }

    /// Checks the image of one address against indexes `known` to map to it, in ascending order.
    fn check_image(&self, local: usize, known: &[Index]) -> Result<()> {
        let wrong = |global: &Index| Err(Error::NotInvertible { global: global.to_vec(), local });
        let limit = known.len() + EXTRA;
        let mut missing = known.iter().peekable();
        let mut previous: Option<Index> = None;
        let mut seen = 0;
        for global in self.to_global(local).take(limit) {
            if self.to_local(&global)? != local || previous.is_some_and(|p| p >= global) {
                return wrong(&global);
            }
            if let Some(skipped) = missing.next_if(|&next| *next < global) {
                return wrong(skipped);
            }
            missing.next_if(|&next| *next == global);
            previous = Some(global);
            seen += 1;
        }
        match missing.next() {
            Some(skipped) if seen < limit => wrong(skipped),
            _ => Ok(()),
        }
    }
}

/// All numbers below `count`; of too many, evenly spread ones with the first and the last.
fn spread(count: usize) -> impl Iterator<Item = usize> {
    let tried = count.min(TRIED) as u128;
    let last = count.saturating_sub(1) as u128;
    (0..tried).map(move |k| (k * last / (tried - 1).max(1)) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Axis, AxisMap, Layout, Pattern};

    #[test]
    fn spread_is_exhaustive_up_to_the_limit_and_keeps_both_ends_beyond() {
        assert_eq!(spread(0).count(), 0);
        assert_eq!(spread(3).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(spread(TRIED).eq(0..TRIED));
        let most = isize::MAX as usize;
        let many: Vec<usize> = spread(most).collect();
        assert_eq!((many[0], many[TRIED - 1], many.len()), (0, most - 1, TRIED));
        assert!(many.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn every_form_of_map_passes() -> Result<()> {
        let row_major = |extents: &[usize]| AddressMap::row_major(extents);
        for map in [
            row_major(&[])?,
            row_major(&[0, 3])?,
            row_major(&[5, 7])?.transpose([1, 0])?.flip(0)?,
            row_major(&[5, 1])?.broadcast([3, 10, 20])?,
            row_major(&[6, 4])?.rotate([2, -1])?.windows(0, 3)?,
            row_major(&[4, 6])?.transpose([1, 0])?.reshape([3, 8])?,
            row_major(&[1 << 15, 1 << 15])?.rotate([3, 5])?,
            row_major(&[1])?.broadcast([isize::MAX as usize])?,
            Layout::new(0, [AxisMap::linear(4, 2), AxisMap::linear(3, 3)])?.into(),
        ] {
            map.check_invertible()?;
        }
        Ok(())
    }

    /// An index that is missing, wrong or twice is told, with the address.
    #[test]
    fn images_are_held_against_what_is_known() -> Result<()> {
        let map = AddressMap::row_major([3])?.broadcast([6])?;
        let index = |digit: usize| Index::from_slice(&[digit]);
        let wrong = |digit, local| Err(Error::NotInvertible { global: vec![digit], local });
        assert_eq!(map.check_image(1, &[index(1), index(4)]), Ok(()));
        assert_eq!(map.check_image(1, &[index(4)]), Ok(()));
        assert_eq!(map.check_image(9, &[]), Ok(()));
        assert_eq!(map.check_image(1, &[index(0), index(4)]), wrong(0, 1));
        assert_eq!(map.check_image(1, &[index(1), index(2), index(4)]), wrong(2, 1));
        assert_eq!(map.check_image(1, &[index(1), index(4), index(5)]), wrong(5, 1));
        assert_eq!(map.check_image(9, &[index(5)]), wrong(5, 9));
        Ok(())
    }

    /// A map whose inverse is wrong: its step and its period have a common divisor, which no constructor lets
    /// through.
    fn broken(offset: isize, extent: usize) -> AddressMap {
        let axes = smallvec::smallvec![Axis { extent, stride: 1 }];
        let pattern = Pattern::Cyclic { period: 6, shift: 0, step: 2 };
        Layout { offset, axes, patterns: Some([pattern].into()) }.into()
    }

    #[test]
    fn a_wrong_inverse_is_found_at_addresses_that_are_read_and_at_others() {
        // Positions 0, 2, 4; the inverse of 2 modulo 6 does not exist.
        for offset in [0, 7] {
            let map = broken(offset, 3);
            let local = offset as usize;
            let image = |address| map.to_global(address).map(|index| index[0]).collect::<Vec<_>>();
            let images: Vec<Vec<usize>> = (local..local + 5).map(image).collect();
            let right = [vec![0], vec![], vec![1], vec![], vec![2]];
            let at = images.iter().zip(&right).position(|(found, right)| found != right).unwrap();
            let error = map.check_invertible().unwrap_err();
            let Error::NotInvertible { local: found, .. } = error else { panic!("{error}") };
            assert_eq!(found, local + at);
        }
    }
}
