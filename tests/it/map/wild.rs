//! Operations and axes with any arguments at all, most of them invalid.

use super::support::below;
use lensor::arbitrary::ViewOp;
use lensor::map::{AxisMap, Pattern, Table};
use lensor::{Align, Select, Shape};
use quickcheck::{Arbitrary, Gen};

/// A number that is often small, and sometimes as extreme as it gets.
fn wild(g: &mut Gen) -> usize {
    const BEYOND: usize = 1 << (usize::BITS - 1);
    const HALF: usize = 1 << (usize::BITS / 2);
    let extreme = [usize::MAX, isize::MAX as usize, BEYOND, HALF, BEYOND + 2, HALF << 8];
    if below(g, 16) == 0 { *g.choose(&extreme).unwrap() } else { below(g, 7) }
}

fn wild_signed(g: &mut Gen) -> isize {
    const LARGE: isize = 1 << (isize::BITS / 2 + 8);
    let extreme = [isize::MIN, isize::MAX, isize::MIN + 1, LARGE, -LARGE];
    if below(g, 16) == 0 { *g.choose(&extreme).unwrap() } else { below(g, 13) as isize - 6 }
}

fn wild_list<T>(g: &mut Gen, longest: usize, item: fn(&mut Gen) -> T) -> Vec<T> {
    (0..below(g, longest + 1)).map(|_| item(g)).collect()
}

fn wild_selector(g: &mut Gen) -> Select {
    match below(g, 8) {
        0 => Select::All,
        1 => Select::Index(wild_signed(g)),
        2 => Select::Range { start: wild_signed(g), stop: None, step: wild_signed(g) },
        3 => Select::stepped(wild_signed(g), wild_signed(g), wild_signed(g)),
        4 => Select::Reverse,
        6 => Select::from_last(wild(g)),
        #[cfg(feature = "roaring")]
        5 => Select::Set(wild_list(g, 3, wild).into_iter().map(|index| index as u64).collect()),
        _ => Select::List(wild_list(g, 4, wild)),
    }
}

/// Any operation at all, valid or not.
#[derive(Debug, Clone)]
pub(crate) struct AnyOp(pub(crate) ViewOp);

impl Arbitrary for AnyOp {
    fn arbitrary(g: &mut Gen) -> Self {
        let other = Shape::arbitrary(g);
        Self(match below(g, 16) {
            0..=2 => ViewOp::arbitrary_for(g, &other),
            3 => ViewOp::Transpose(wild_list(g, 4, |g| below(g, 4))),
            4 => ViewOp::Select(wild_list(g, 4, wild_selector)),
            5 => ViewOp::Slice(below(g, 4), wild(g)..wild(g)),
            6 => ViewOp::Broadcast(Shape::from(wild_list(g, 5, wild))),
            7 => ViewOp::Stretch(
                Shape::from(wild_list(g, 5, wild)),
                if bool::arbitrary(g) { Align::Left } else { Align::Right },
            ),
            8 => ViewOp::Rotate(wild_list(g, 4, wild_signed)),
            9 => ViewOp::Reshape(Shape::from(wild_list(g, 5, wild))),
            10 => ViewOp::SplitAxis(wild(g), wild_list(g, 3, wild)),
            11 => ViewOp::MergeAxes(wild(g)..wild(g)),
            12 => ViewOp::Flip(wild(g)),
            13 => ViewOp::Diagonal(below(g, 4), below(g, 4)),
            14 => ViewOp::Windows(below(g, 4), wild(g)),
            _ if bool::arbitrary(g) => ViewOp::InsertAxis(wild(g)),
            _ => ViewOp::RemoveAxis(wild(g)),
        })
    }
}

/// An axis with any numbers at all, its extent small enough to try every digit.
#[derive(Debug, Clone)]
pub(crate) struct AnyAxis(pub(crate) AxisMap);

impl Arbitrary for AnyAxis {
    fn arbitrary(g: &mut Gen) -> Self {
        let extent = below(g, 5);
        let walk = match below(g, 3) {
            0 => Pattern::Linear,
            1 => Pattern::Cyclic { period: wild(g), shift: wild(g), step: wild(g) },
            _ => {
                let len = if below(g, 8) == 0 { below(g, 5) } else { extent };
                Pattern::Listed(Table::new((0..len).map(|_| wild(g)).collect::<Vec<_>>()))
            }
        };
        Self(AxisMap { extent, stride: wild_signed(g), pattern: walk })
    }
}
