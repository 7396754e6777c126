//! Span, injectivity, contiguity and strides against trying all indexes.

use crate::support::{addresses, judges_injectivity, strides_of};
use lensor::arbitrary::Chain;
use lensor::map::Layout;
use quickcheck::quickcheck;

quickcheck! {
    /// The span holds every address, and its ends are addresses if there is one link.
    fn span_is_exact_for_one_link_and_encloses_otherwise(chain: Chain) -> bool {
        let map = chain.map();
        let reached = addresses(&map);
        let (Some(&low), Some(&high)) = (reached.iter().min(), reached.iter().max()) else {
            return map.span() == (0..0);
        };
        let span = map.span();
        if map.links().len() == 1 {
            return span == (low..high + 1);
        }
        span.start <= low && high < span.end && span.end <= chain.shape().count().unwrap()
    }

    /// A map is injective when no two indexes share an address; the axis is the first whose prefix is not.
    fn injectivity_is_that_of_trying_all(chain: Chain) -> bool {
        judges_injectivity(&chain.map())
    }

    /// The same for layouts of any strides and walks.
    fn injectivity_of_layouts_is_that_of_trying_all(layout: Layout) -> bool {
        judges_injectivity(&layout.into())
    }

    /// Contiguous means consecutive addresses; for one link in both directions.
    fn contiguous_means_consecutive(chain: Chain) -> bool {
        let map = chain.map();
        let reached = addresses(&map);
        let consecutive = reached.windows(2).all(|pair| pair[1] == pair[0] + 1);
        if map.links().len() == 1 {
            map.is_contiguous() == consecutive
        } else {
            !map.is_contiguous() || consecutive
        }
    }

    /// Strides are given when they explain all addresses; for one link exactly then.
    fn strided_means_explained_by_strides(chain: Chain) -> bool {
        let map = chain.map();
        let found = map.as_strided().map(|strided| (strided.offset, strided.strides));
        match strides_of(&map) {
            _ if map.count() == 0 => found == Some((0, vec![0; map.rank()])),
            expected if map.links().len() == 1 => found == expected,
            expected => found.is_none() || found == expected,
        }
    }
}
