//! Random views, expressions and assignments over one small buffer, compared with a model that copies.
//! What is an error for one is an error for the other.
#![no_main]

#[path = "../../tests/it/model.rs"]
mod model;

use lensor::arbitrary::ViewOp;
use lensor::prelude::*;
use lensor::{AddressMap, Reader, Writer};
use libfuzzer_sys::arbitrary::{self, Unstructured};
use libfuzzer_sys::fuzz_target;
use model::{Model, Refusal};
use std::collections::BTreeSet;

/// Views with more elements are left alone: the model is slow.
const MOST: usize = 150;

/// A view of the buffer, and the address of every element as found by copying.
#[derive(Debug, Clone)]
struct View {
    map: AddressMap,
    model: Model<usize>,
}

impl View {
    fn change(&mut self, operation: &ViewOp) {
        match (operation.apply(self.map.clone()), self.model.apply(operation)) {
            (Ok(map), Ok(model)) if model.data.len() <= MOST => *self = Self { map, model },
            (Ok(_), Ok(_)) | (_, Err(Refusal::TooLarge)) | (Err(_), Err(Refusal::Invalid)) => {}
            (map, model) => panic!("{operation:?} of {self:?}: {map:?}, but {model:?}"),
        }
    }

    fn values(&self, data: &[i32]) -> Model<i32> {
        Model::new(&self.model.shape, self.model.data.iter().map(|&a| data[a]).collect())
    }

    fn is_injective(&self) -> bool {
        self.model.data.iter().collect::<BTreeSet<_>>().len() == self.model.data.len()
    }

    /// Everything there is to read, and the way back from one address.
    fn check(&self, data: &[i32], address: usize) {
        assert_eq!(*self.map.shape(), self.model.shape[..]);
        assert_eq!(self.map.is_injective(), self.is_injective());
        let expected = self.values(data);
        let (memory, slots) = (self.of(data), self.of(Slots(data.to_vec())));
        assert_eq!(memory.to_vec(), Ok(expected.data.clone()));
        assert_eq!(slots.to_vec(), Ok(expected.data.clone()));
        let iterated: Result<Vec<i32>, Error> = memory.try_iter().collect();
        assert_eq!(iterated, Ok(expected.data));
        let shown = model::all_indexes(&self.model.shape);
        let shown = shown.into_iter().filter(|index| *self.model.get(index) == address);
        assert!(self.map.to_global(address).map(|index| index.to_vec()).eq(shown));
    }

    fn of<S: Reader<Elem = i32>>(&self, storage: S) -> Tensor<S> {
        Tensor::with_map(self.map.clone(), storage).expect("the map lies inside the buffer")
    }
}

/// Storage without memory to show.
struct Slots(Vec<i32>);

impl Reader for Slots {
    type Elem = i32;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, address: usize) -> i32 {
        self.0[address]
    }
}

impl Writer for Slots {
    fn write(&mut self, address: usize, value: i32) {
        self.0[address] = value;
    }
}

/// An expression, and its elements as the model has them: `None` where there is no value, and no
/// model if the operands do not align.
type Sum<'a> = (BoxExpr<'a, i32>, Option<Model<Option<i32>>>);

/// Both operands at their joint shape.
fn align<T: Clone>(a: &Model<T>, b: &Model<T>) -> Result<[Model<T>; 2], Refusal> {
    let rank = Ord::max(a.rank(), b.rank());
    let padded = |m: &Model<T>| [vec![1; rank - m.rank()], m.shape.clone()].concat();
    let pairs = padded(a).into_iter().zip(padded(b));
    let joint: Vec<usize> = pairs.map(|(a, b)| if a == 1 { b } else { a }).collect();
    Ok([a.stretch(&joint, Align::Right)?, b.stretch(&joint, Align::Right)?])
}

/// Two expressions as one.
fn combine<'a>(
    u: &mut Unstructured,
    (a, ma): Sum<'a>,
    (b, mb): Sum<'a>,
) -> arbitrary::Result<Sum<'a>> {
    type Compute = fn(i32, i32) -> Option<i32>;
    let (e, compute): (BoxExpr<'a, i32>, Compute) = match u.int_in_range(0..=4)? {
        0 => ((a + b).boxed(), |a, b| Some(a.wrapping_add(b))),
        1 => ((a * 3 - b).boxed(), |a, b| Some(a.wrapping_mul(3).wrapping_sub(b))),
        2 => ((-a * b).boxed(), |a, b| Some(a.wrapping_neg().wrapping_mul(b))),
        3 => ((a / b).boxed(), |a, b| (b != 0).then(|| a.wrapping_div(b))),
        _ => (zip_with((a, b, 7), |(a, b, c)| a ^ b.rotate_left(c as u32)).boxed(), |a, b| {
            Some(a ^ b.rotate_left(7))
        }),
    };
    let aligned = ma.zip(mb).and_then(|(a, b)| align(&a, &b).ok());
    let model = aligned.map(|[a, b]| {
        let pairs = a.data.iter().zip(&b.data);
        let data = pairs.map(|(a, b)| compute((*a)?, (*b)?)).collect();
        Model { shape: a.shape, data }
    });
    Ok((e, model))
}

/// Operators and views on the views of one buffer, evaluated at the end.
fn expressions(u: &mut Unstructured, views: &[View; 3], data: &[i32]) -> arbitrary::Result<()> {
    let slots = Slots(data.to_vec());
    let mut stack: Vec<Sum> = Vec::new();
    for _ in 0..u.int_in_range(1..=12)? {
        match (u.int_in_range(0..=3)?, stack.pop()) {
            (0 | 1, top) | (_, top @ None) => {
                stack.extend(top);
                let view = &views[u.choose_index(3)?];
                let values = view.values(data);
                let leaf = if u.arbitrary()? {
                    view.of(data).lazy().boxed()
                } else {
                    view.of(&slots).lazy().boxed()
                };
                let elements = values.data.into_iter().map(Some).collect();
                stack.push((leaf, Some(Model { shape: values.shape, data: elements })));
            }
            (2, Some(a)) => {
                let b = stack.pop().unwrap_or_else(|| a.clone());
                let both = combine(u, a, b)?;
                if both.1.as_ref().is_none_or(|model| model.data.len() <= MOST) {
                    stack.push(both);
                }
            }
            (_, Some((e, None))) => assert!(e.eval().is_err()),
            (_, Some((e, Some(model)))) => {
                let operation = operation(u, &model.shape)?;
                match (under(e.clone(), &operation), model.apply(&operation)) {
                    (Some(Ok(e)), Ok(model)) if model.data.len() <= MOST => {
                        stack.push((e, Some(model)))
                    }
                    (Some(Err(_)), Err(Refusal::Invalid)) | (None, _) => {
                        stack.push((e, Some(model)))
                    }
                    (Some(Ok(_)), Ok(_)) | (_, Err(Refusal::TooLarge)) => {}
                    (found, model) => panic!("{operation:?}: {found:?}, but {model:?}"),
                }
            }
        }
    }
    for (e, model) in stack {
        let Some(model) = model else {
            assert!(e.eval().is_err());
            continue;
        };
        let expected: Option<Vec<i32>> = model.data.iter().copied().collect();
        let found = e.eval();
        assert_eq!(
            found.as_ref().ok().map(|t| t.storage()),
            expected.as_ref(),
            "{found:?} {model:?}"
        );
        assert!(found.is_err() || e.shape().is_ok_and(|shape| *shape == model.shape[..]));
    }
    Ok(())
}

/// The operation as a method of an expression, if it is one.
fn under<'a>(e: BoxExpr<'a, i32>, operation: &ViewOp) -> Option<lensor::Result<BoxExpr<'a, i32>>> {
    use ViewOp::*;
    Some(match operation.clone() {
        Transpose(order) => e.transpose(&order),
        Select(selectors) => e.select(selectors),
        Slice(axis, range) => e.slice(axis, range),
        Broadcast(to) => e.broadcast(to),
        Stretch(..) => return None,
        Rotate(shifts) => e.rotate(&shifts),
        Reshape(to) => e.reshape(to),
        SplitAxis(axis, extents) => e.split_axis(axis, &extents),
        MergeAxes(axes) => e.merge_axes(axes),
        Flip(axis) => e.flip(axis),
        Diagonal(a, b) => e.diagonal(a, b),
        Windows(axis, window) => e.windows(axis, window),
        InsertAxis(axis) => e.insert_axis(axis),
        RemoveAxis(axis) => e.remove_axis(axis),
    })
}

/// Writes the elements of one view through another, in one of four ways.
fn write(
    u: &mut Unstructured,
    from: &View,
    to: &View,
    data: &mut Vec<i32>,
) -> arbitrary::Result<()> {
    let how = u.int_in_range(0..=3)?;
    let source = from.of(&data[..]).eval().expect("a view of memory can be read");
    let (mut memory, mut slots) = (data.clone(), Slots(data.clone()));
    let results = match how {
        0 => [to.of(&mut memory).assign(&source), to.of(&mut slots).assign(&source)],
        1 => [
            to.of(&mut memory).copy_within(&from.map, &to.map),
            to.of(&mut slots).copy_within(&from.map, &to.map),
        ],
        2 => {
            [to.of(&mut memory).try_add_assign(&source), to.of(&mut slots).try_add_assign(&source)]
        }
        _ => [
            to.of(&mut memory).update(|old| Ok((old * 3 + &source).boxed())),
            to.of(&mut slots).update(|old| Ok((old * 3 + &source).boxed())),
        ],
    };
    let Ok(values) = from.values(data).stretch(&to.model.shape, Align::Right) else {
        assert!(results.iter().all(Result::is_err));
        return Ok(());
    };
    if !to.is_injective() {
        assert!(results.iter().all(Result::is_err));
        return Ok(());
    }
    for (&address, &value) in to.model.data.iter().zip(&values.data) {
        data[address] = match how {
            0 | 1 => value,
            2 => data[address].wrapping_add(value),
            _ => data[address].wrapping_mul(3).wrapping_add(value),
        };
    }
    assert_eq!(results, [Ok(()), Ok(())]);
    assert_eq!((&memory, &slots.0), (&*data, &*data));
    Ok(())
}

/// A view operation, most often a valid one.
fn operation(u: &mut Unstructured, shape: &[usize]) -> arbitrary::Result<ViewOp> {
    let rank = shape.len();
    let axis = u.int_in_range(0..=rank)?;
    let extent = shape.get(axis).copied().unwrap_or(1);
    let odd: bool = u.int_in_range(0..=31)? == 31;
    Ok(match u.int_in_range(0..=14)? {
        0 => {
            let mut order: Vec<usize> = (0..rank + usize::from(odd)).collect();
            for k in 1..order.len() {
                order.swap(k, u.int_in_range(0..=k)?);
            }
            order.truncate(rank);
            ViewOp::Transpose(order)
        }
        1 | 2 => {
            let count = u.int_in_range(0..=rank)? + usize::from(odd);
            let extents = (0..count).map(|k| shape.get(k).copied().unwrap_or(1));
            ViewOp::Select(extents.map(|extent| selector(u, extent)).collect::<Result<_, _>>()?)
        }
        3 => ViewOp::Slice(axis, u.int_in_range(0..=extent)?..u.int_in_range(0..=extent + 1)?),
        4 | 5 => {
            let mut to: Vec<usize> = (0..u.int_in_range(0..=1)?).map(|_| 2).collect();
            to.extend(shape);
            for extent in &mut to {
                *extent = *extent * u.int_in_range(1..=3)? + usize::from(odd);
            }
            ViewOp::Broadcast(to.into())
        }
        6 => {
            let align = *u.choose(&[Align::Left, Align::Right])?;
            let more = u.int_in_range(0..=3)?;
            let mut to: Vec<usize> = shape.to_vec();
            to.iter_mut().filter(|extent| **extent == 1 || odd).for_each(|extent| *extent = more);
            let at = if align == Align::Left { rank } else { 0 };
            to.splice(at..at, (0..u.int_in_range(0..=1)?).map(|_| 2));
            ViewOp::Stretch(to.into(), align)
        }
        7 => {
            let shifts: arbitrary::Result<Vec<i8>> = (0..rank).map(|_| u.arbitrary()).collect();
            let far = |shift: i8| match shift {
                i8::MIN => isize::MIN,
                i8::MAX => isize::MAX,
                near => near as isize,
            };
            ViewOp::Rotate(shifts?.into_iter().skip(usize::from(odd)).map(far).collect())
        }
        8 | 9 => {
            let count = shape.iter().product();
            ViewOp::Reshape(factors(u, count, odd)?.into())
        }
        10 => ViewOp::SplitAxis(axis, factors(u, extent, odd)?),
        11 => ViewOp::MergeAxes(axis..u.int_in_range(0..=rank)? + usize::from(odd)),
        12 => ViewOp::Flip(axis),
        13 => match u.int_in_range(0..=2)? {
            0 => ViewOp::InsertAxis(axis + usize::from(odd)),
            1 => ViewOp::RemoveAxis(axis),
            _ => ViewOp::Diagonal(axis, u.int_in_range(0..=rank)?),
        },
        _ => ViewOp::Windows(axis, u.int_in_range(0..=extent + 1)?),
    })
}

/// Extents whose product is `count`, unless `odd`.
fn factors(u: &mut Unstructured, mut count: usize, odd: bool) -> arbitrary::Result<Vec<usize>> {
    let mut factors = Vec::new();
    for _ in 0..u.int_in_range(0..=3)? {
        let factor = u.int_in_range(1..=6)?;
        if count.is_multiple_of(factor) {
            factors.push(factor);
            count /= factor;
        }
    }
    factors.push(if odd { usize::MAX / 2 } else { count });
    Ok(factors)
}

fn selector(u: &mut Unstructured, extent: usize) -> arbitrary::Result<Select> {
    let near = |u: &mut Unstructured| {
        let index = u.int_in_range(-1..=extent as isize + 1)?;
        Ok(if index > extent as isize { *u.choose(&[isize::MIN, isize::MAX])? } else { index })
    };
    let inside = |u: &mut Unstructured| u.int_in_range(0..=extent.saturating_sub(1));
    Ok(match u.int_in_range(0..=7)? {
        0 => Select::All,
        1 => Select::Index(inside(u)? as isize),
        2 => Select::Reverse,
        3 => Select::every(*u.choose(&[1, 2, 3, -1, -2, 0, isize::MIN, isize::MAX])?),
        4 | 5 => {
            let stop = if u.arbitrary()? { Some(near(u)?) } else { None };
            let step = *u.choose(&[1, 2, -1, -3, 0, isize::MIN, isize::MAX])?;
            Select::Range { start: inside(u)? as isize, stop, step }
        }
        6 => {
            Select::List((0..u.int_in_range(0..=5)?).map(|_| inside(u)).collect::<Result<_, _>>()?)
        }
        _ => {
            let members: arbitrary::Result<Vec<usize>> = (0..4).map(|_| inside(u)).collect();
            let members: roaring::RoaringTreemap = members?.into_iter().map(|i| i as u64).collect();
            if u.arbitrary()? { Select::Set(members) } else { Select::Index(near(u)?) }
        }
    })
}

fn run(u: &mut Unstructured) -> arbitrary::Result<()> {
    let rank = u.int_in_range(0..=4)?;
    let shape: arbitrary::Result<Vec<usize>> = (0..rank).map(|_| u.int_in_range(0..=5)).collect();
    let map = AddressMap::row_major(shape?).expect("small");
    let mut data: Vec<i32> = (0..map.count() as i32).map(|k| k * 7 - 20).collect();
    let start = View { model: Model::addresses(&map.shape()), map };
    let mut views = [start.clone(), start.clone(), start.clone()];
    while !u.is_empty() {
        let (a, b) = (u.choose_index(3)?, u.choose_index(3)?);
        match u.int_in_range(0..=9)? {
            0 => views[a] = start.clone(),
            1 => views[a] = views[b].clone(),
            2 => views[a].check(&data, u.int_in_range(0..=data.len())?),
            3 => expressions(u, &views, &data)?,
            4 | 5 => write(u, &views[a], &views[b], &mut data)?,
            _ => {
                let operation = operation(u, &views[a].model.shape)?;
                views[a].change(&operation);
            }
        }
    }
    views.iter().for_each(|view| view.check(&data, 0));
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    // Bytes that end too early end the run.
    let _ = run(&mut Unstructured::new(bytes));
});
