//! What a reduction is made of.

/// Why a state has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Undefined {
    /// The result does not fit its type, as a sum of integers may not.
    Overflow,
    /// All elements were left out, and there is no result for none.
    Empty,
}

/// What is done with a reducer of any type, for [`Reducer::of_count`].
pub trait VisitReducer<T: Copy, Out> {
    /// What comes of it.
    type Result;

    /// Does it.
    fn visit<R: Reducer<T, Out = Out>>(self, reducer: &R) -> Self::Result;
}

/// What may stand where an element is left out, so that no branch depends on what counts: it changes no state but for the
/// number of elements, which [`Reducer::unpad`] mends.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum Padding<T> {
    /// Nothing that is known.
    None,
    /// This element.
    Value(T),
    /// Any element that counts, once more.
    Repeated,
}

impl<T> Padding<T> {
    /// Whether there is any.
    pub(super) const fn is_some(&self) -> bool {
        !matches!(self, Self::None)
    }
}

/// The pieces of a fold: how to begin, take one more element, join two parts, and end.
///
/// Two types and four methods make a reducer, and with it come any axes, masks, segments, windows, scans,
/// sparse operands and threads. The provided methods describe the same fold, faster: over a block at once, over columns,
/// over many copies of one element.
///
/// Positions are those of elements in row-major order of what is reduced to one result, from 0.
///
/// # Required of implementations
///
/// `first` then `step` over a run gives the state of that run, and `combine` the state of two
/// neighbouring runs, the earlier one being `state`. A violation gives wrong results, nothing worse.
///
/// ```
/// use lensor::prelude::*;
/// use lensor::reduce::Reducer;
///
/// /// The distance between the smallest and the largest element.
/// struct Spread;
/// impl Reducer<i32> for Spread {
///     type State = (i32, i32);
///     type Out = i32;
///     fn empty(&self) -> Option<(i32, i32)> {
///         None
///     }
///     fn first(&self, x: i32) -> (i32, i32) {
///         (x, x)
///     }
///     fn combine(&self, state: &mut (i32, i32), later: (i32, i32)) {
///         *state = (state.0.min(later.0), state.1.max(later.1));
///     }
///     fn finish(&self, (low, high): (i32, i32)) -> i32 {
///         high - low
///     }
/// }
/// let t = Tensor::from_nested([[3, 1, 4], [1, 5, 9]])?;
/// assert_eq!(t.fold(1, Spread).eval()?.to_vec()?, [3, 8]);
/// # Ok::<(), Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot reduce elements of type `{T}`",
    note = "sums, means and the like are defined for numbers only; convert with `.cast()` first"
)]
pub trait Reducer<T: Copy>: Send + Sync {
    /// What is known of a run of elements.
    type State: Clone + Send + Sync;
    /// Type of the results.
    type Out: Copy + Send + Sync;

    /// Whether the result is the same in any order of the elements. A reducer that is not commutative
    /// reduces one axis at a time.
    const COMMUTATIVE: bool = true;
    /// Whether runs can be folded apart and joined by [`Self::combine`]. Otherwise elements are taken one
    /// after another.
    const ASSOCIATIVE: bool = true;
    /// Whether positions matter: [`Self::first_at`] and [`Self::step_at`] are more than their plain twins, and both written.
    const POSITIONS: bool = false;
    /// Whether [`Self::moved`] gives what it says. Windows of an associative reducer are folded in time proportional to
    /// the axis then, otherwise to the axis times the window: positions count from the start of the axis and whatever
    /// extends it, and are moved to those of the window before [`Self::undefined`] and [`Self::finish`]. A reducer around
    /// another one that takes this from it takes [`Self::moved`], too.
    const MOVES: bool = !Self::POSITIONS;
    /// Whether results have the same bits however elements are ordered and grouped: what lies in another order than that of
    /// the view is folded in that order then.
    #[doc(hidden)]
    const EXACT: bool = false;
    /// Whether there is [`Self::fold_beside`].
    #[doc(hidden)]
    const BESIDE: bool = false;
    /// Whether folding takes so much longer than bringing elements from memory that wider registers pay: as it does
    /// for four reducers and more.
    #[doc(hidden)]
    const SEVERAL: bool = false;
    /// What may stand where an element is left out.
    #[doc(hidden)]
    const PADDING: Padding<T> = Padding::None;

    /// The state of no elements; `None` if there is no result then, as for a maximum.
    fn empty(&self) -> Option<Self::State>;

    /// The state of one element.
    fn first(&self, x: T) -> Self::State;

    /// Joins the state of the run that follows.
    fn combine(&self, state: &mut Self::State, later: Self::State);

    /// The result; of a state without one, anything.
    fn finish(&self, state: Self::State) -> Self::Out;

    /// Takes one more element, by joining its state unless that is done otherwise.
    #[inline(always)]
    fn step(&self, state: &mut Self::State, x: T) {
        let later = self.first(x);
        self.combine(state, later);
    }

    /// A state that takes any element as its first one: of it, [`Self::step`] makes what [`Self::first`] gives and
    /// [`Self::combine`] the later state, bit for bit (but for kinds of NaN). Tables of states start with it, so
    /// that no branch tells first elements from others. `None` if there is no such state, or if it is unknown.
    ///
    /// It need not be [`Self::empty`]: the sum of no floats is 0.0, but -0.0 is what leaves both zeros as they are.
    fn neutral(&self) -> Option<Self::State> {
        None
    }

    /// Whether any number of copies of `x`, one at least, have the state of one, bit for bit (but for kinds of NaN):
    /// 0 in a sum, 1 in a product. Elements that are the fill value of a sparse operand need not be counted then.
    /// `false` if it is unknown.
    fn is_idempotent(&self, _x: T) -> bool {
        false
    }

    /// Whether nothing that comes later changes this state, as once a true element was found of which any will do: joined with
    /// any later one it stays as it is, bit for bit. Elements of the same result that follow may be passed over then.
    fn is_final(&self, _state: &Self::State) -> bool {
        false
    }

    /// Why there is no result, if there is none. Scans and windows may call [`Self::finish`] first, and throw away what it
    /// gives: it must not panic.
    fn undefined(&self, _state: &Self::State) -> Option<Undefined> {
        None
    }

    /// Whether an element counts for `at_least` of windows: not one that is filtered or skipped. A reducer that wraps another
    /// asks that.
    fn takes(&self, _x: T) -> bool {
        true
    }

    /// Takes so many elements of [`Self::PADDING`] out of a state again.
    #[doc(hidden)]
    #[inline(always)]
    fn unpad(&self, _state: &mut Self::State, _count: usize) {}

    /// Whether a state is that of no elements, as all were left out. Asked where there is a value for that.
    fn is_of_none(&self, _state: &Self::State) -> bool {
        false
    }

    /// [`Self::first`] where the position matters.
    #[inline(always)]
    fn first_at(&self, x: T, _position: usize) -> Self::State {
        self.first(x)
    }

    /// [`Self::step`] where the position matters.
    #[inline(always)]
    fn step_at(&self, state: &mut Self::State, x: T, _position: usize) {
        self.step(state, x);
    }

    /// The state of the same elements where all positions are less by `by`, asked if [`Self::MOVES`].
    #[inline(always)]
    fn moved(&self, state: Self::State, _by: usize) -> Self::State {
        state
    }

    /// Hands `visit` a reducer that gives the same results for folds of just `count >= 1` elements: this
    /// one, or one that knows less. So a mean of a known number of elements needs no count beside the sum.
    /// Windows, which all have one length, are folded so.
    #[inline]
    fn of_count<V: VisitReducer<T, Self::Out>>(&self, count: usize, visit: V) -> V::Result
    where
        Self: Sized,
    {
        self.of_up_to(count, visit)
    }

    /// Hands `visit` a reducer that gives the same results for folds of at most `most` elements: this one, or one that
    /// has smaller states. So sums of few integers need no more than 64 bits. Scans are folded so.
    #[inline]
    fn of_up_to<V: VisitReducer<T, Self::Out>>(&self, _most: usize, visit: V) -> V::Result
    where
        Self: Sized,
    {
        visit.visit(self)
    }

    /// The state of `count >= 1` copies of `x`, the first of them at `position`. Sparse operands have
    /// many equal elements; the default doubles what it has where it may, and steps otherwise.
    fn repeat(&self, x: T, position: usize, count: usize) -> Self::State {
        if Self::POSITIONS || !Self::ASSOCIATIVE {
            let mut state = self.first_at(x, position);
            (1..count).for_each(|k| self.step_at(&mut state, x, position + k));
            return state;
        }
        let mut state = self.first(x);
        for bit in (0..count.ilog2()).rev() {
            let twin = state.clone();
            self.combine(&mut state, twin);
            if count >> bit & 1 == 1 {
                self.step(&mut state, x);
            }
        }
        state
    }

    /// Takes `count >= 1` copies of `x` more, the first of them at `position`: by [`Self::repeat`] where runs can be
    /// joined, one after another otherwise.
    fn step_copies(&self, state: &mut Self::State, x: T, position: usize, count: usize) {
        if Self::ASSOCIATIVE {
            return self.combine(state, self.repeat(x, position, count));
        }
        (0..count).for_each(|k| self.step_at(state, x, position + k));
    }

    /// The state of a run of at least one element, the first of them at `position`.
    #[inline]
    fn fold(&self, run: &[T], position: usize) -> Self::State {
        step_run(self, run, position)
    }

    /// The state of the first `count` of eight elements, at least one: what [`Self::fold`] gives from position 0 on. Rows
    /// of a few elements are folded so, whose lengths no processor predicts; a reducer may do without a branch on them.
    #[inline(always)]
    fn fold_few(&self, run: &[T; 8], count: usize) -> Self::State {
        self.fold(&run[..count], 0)
    }

    /// The states of runs side by side, element `k` of each in row `k`: with the bits of [`Self::fold`] of each.
    #[doc(hidden)]
    #[inline]
    fn fold_beside(&self, _rows: &[&[T]], _states: &mut Vec<Self::State>) {}

    /// The states of all columns of a block of at least one row. All rows are of one length; the elements
    /// of row `k` have position `position + k`.
    #[inline]
    fn fold_columns(&self, rows: &[&[T]], position: usize, states: &mut Vec<Self::State>) {
        step_columns(self, rows, position, states);
    }
}

/// What [`Reducer::fold`] is by itself: element after element.
#[inline(always)]
pub(super) fn step_run<T: Copy, R: Reducer<T> + ?Sized>(
    reducer: &R,
    run: &[T],
    position: usize,
) -> R::State {
    let mut state = reducer.first_at(run[0], position);
    for (k, &x) in run.iter().enumerate().skip(1) {
        reducer.step_at(&mut state, x, position + k);
    }
    state
}

/// What [`Reducer::fold_columns`] is by itself: row after row.
#[inline(always)]
pub(super) fn step_columns<T: Copy, R: Reducer<T> + ?Sized>(
    reducer: &R,
    rows: &[&[T]],
    position: usize,
    states: &mut Vec<R::State>,
) {
    states.clear();
    states.extend(rows[0].iter().map(|&x| reducer.first_at(x, position)));
    for (k, row) in rows.iter().enumerate().skip(1) {
        for (state, &x) in states.iter_mut().zip(*row) {
            reducer.step_at(state, x, position + k);
        }
    }
}
