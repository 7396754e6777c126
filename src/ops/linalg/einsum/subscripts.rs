//! Reading subscripts.

use crate::error::{Error, Result, SubscriptsFlaw};
use crate::memory::push;

/// The axes of one operand, or of the result.
#[derive(Debug, Clone, Default)]
pub(super) struct Named {
    /// Letters before the ellipsis, or all.
    pub(super) before: Vec<u8>,
    pub(super) after: Vec<u8>,
    pub(super) ellipsis: bool,
}

impl Named {
    pub(super) fn letters(&self) -> impl Iterator<Item = u8> {
        self.before.iter().chain(&self.after).copied()
    }
}

/// Subscripts, read but not held against operands.
#[derive(Debug)]
pub(super) struct Subscripts {
    pub(super) operands: Vec<Named>,
    /// The axes of the result, if they are given.
    pub(super) result: Option<Named>,
}

impl Subscripts {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let flawed = |flaw| Error::Subscripts { subscripts: text.into(), flaw };
        let (mut operands, mut last, mut has_result) = (Vec::new(), Named::default(), false);
        let mut rest = text.char_indices().filter(|(_, found)| !found.is_whitespace());
        while let Some((at, found)) = rest.next() {
            let mut is_next = |wanted| rest.next().is_some_and(|(_, found)| found == wanted);
            match found {
                'a'..='z' | 'A'..='Z' => {
                    let side = if last.ellipsis { &mut last.after } else { &mut last.before };
                    push(side, found as u8)?;
                }
                '.' if last.ellipsis => return Err(flawed(SubscriptsFlaw::Ellipses { at })),
                '.' if is_next('.') && is_next('.') => last.ellipsis = true,
                ',' if !has_result => push(&mut operands, std::mem::take(&mut last))?,
                '-' if !has_result && is_next('>') => {
                    push(&mut operands, std::mem::take(&mut last))?;
                    has_result = true;
                }
                _ => return Err(flawed(SubscriptsFlaw::Character { at, found })),
            }
        }
        if has_result {
            return Ok(Self { operands, result: Some(last) });
        }
        push(&mut operands, last)?;
        Ok(Self { operands, result: None })
    }
}
