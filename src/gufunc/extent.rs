//! Core dimensions, and exact sums of their extents.

use crate::error::Result;
use crate::memory::{push, try_with_capacity};
use crate::ops::cores::SmallSet;

/// A core dimension.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) kind: Kind,
}

/// What is known of a core dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Plain,
    /// `n?`
    Optional,
    /// `n|1`
    Stretching,
    Fixed(usize),
}

/// Extent of a core axis of an output.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Extent {
    /// That of the name of this number.
    Of(usize),
    Sum(Sum),
}

impl Extent {
    /// Whether it is that of a name that is in no operand.
    pub(super) fn is_missing(&self, missing: SmallSet) -> bool {
        matches!(self, Self::Of(name) if missing.contains(*name))
    }
}

/// A sum of products of names and integers, operands before their operators.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Sum(Vec<Item>);

/// An operand or an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Item {
    /// The extent of the name of this number.
    Name(usize),
    Integer(i128),
    Op(Op),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Op {
    Plus,
    Minus,
    Times,
    Over,
}

impl Op {
    /// How strongly it binds its operands.
    pub(super) fn binds(self) -> u8 {
        match self {
            Self::Plus | Self::Minus => 1,
            Self::Times | Self::Over => 2,
        }
    }

    fn symbol(self) -> char {
        match self {
            Self::Plus => '+',
            Self::Minus => '-',
            Self::Times => '*',
            Self::Over => '/',
        }
    }

    /// The exact result, if there is one.
    fn apply(self, a: i128, b: i128) -> Option<i128> {
        match self {
            Self::Plus => a.checked_add(b),
            Self::Minus => a.checked_sub(b),
            Self::Times => a.checked_mul(b),
            Self::Over => a.checked_div(b).filter(|quotient| quotient.checked_mul(b) == Some(a)),
        }
    }
}

impl Sum {
    pub(super) fn push(&mut self, item: Item) -> Result<()> {
        push(&mut self.0, item)
    }

    pub(super) fn items(&self) -> &[Item] {
        &self.0
    }

    /// The numbers of the names in it.
    pub(super) fn names(&self) -> impl Iterator<Item = usize> {
        self.0.iter().filter_map(|item| match item {
            Item::Name(name) => Some(*name),
            _ => None,
        })
    }

    /// The value, unless a division leaves a remainder or a number does not fit.
    pub(super) fn value(&self, extent: impl Fn(usize) -> usize) -> Result<Option<i128>> {
        let mut stack = try_with_capacity(self.0.len())?;
        for item in &self.0 {
            let next = match *item {
                Item::Name(name) => Some(extent(name) as i128),
                Item::Integer(value) => Some(value),
                Item::Op(op) => match (stack.pop(), stack.pop()) {
                    (Some(b), Some(a)) => op.apply(a, b),
                    _ => None,
                },
            };
            let Some(next) = next else { return Ok(None) };
            stack.push(next);
        }
        Ok(stack.pop())
    }

    /// The text, with the brackets that it needs.
    pub(super) fn text<'n>(&self, name: impl Fn(usize) -> &'n str) -> String {
        // Each operand with how strongly its parts are bound.
        let mut stack: Vec<(String, u8)> = Vec::new();
        for item in &self.0 {
            let operand = match *item {
                Item::Name(number) => (name(number).to_string(), u8::MAX),
                Item::Integer(value) => (value.to_string(), u8::MAX),
                Item::Op(op) => {
                    let (Some((b, right)), Some((a, left))) = (stack.pop(), stack.pop()) else {
                        continue;
                    };
                    let a = if left < op.binds() { format!("({a})") } else { a };
                    let b = if right <= op.binds() { format!("({b})") } else { b };
                    (format!("{a}{}{b}", op.symbol()), op.binds())
                }
            };
            stack.push(operand);
        }
        stack.pop().map(|(text, _)| text).unwrap_or_default()
    }
}
