//! Reading the text of a signature.

use super::extent::{Extent, Item, Kind, Name, Op, Sum};
use crate::error::{Error, Result, SignatureFlaw};
use crate::memory::push;

/// Most arguments, inputs and outputs together.
const ARGUMENTS: usize = 16;
/// Most core axes of an argument.
const AXES: usize = 8;
/// Most bytes of text.
pub(super) const BYTES: usize = 4096;

/// What a text says.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Parsed {
    pub(super) names: Vec<Name>,
    pub(super) inputs: Vec<Vec<usize>>,
    pub(super) outputs: Vec<Vec<Extent>>,
}

/// Where a text goes wrong, if that is in one place, and how.
pub(super) type Fault = (Option<usize>, SignatureFlaw);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'t> {
    Open,
    Close,
    Comma,
    Arrow,
    Optional,
    Stretching,
    Op(Op),
    Name(&'t str),
    Integer(&'t str),
    End,
    Unknown,
}

/// A text that is being read.
pub(super) struct Parser<'t> {
    text: &'t str,
    at: usize,
    names: Vec<Name>,
    /// The first name whose uses differ.
    mixed: Option<usize>,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, names: Vec::new(), mixed: None }
    }

    /// The next token, and where it begins and ends.
    fn peek(&self) -> (usize, usize, Token<'t>) {
        let rest = &self.text[self.at..];
        let start = self.at + rest.len() - rest.trim_ascii_start().len();
        let rest = &self.text[start..];
        let run =
            |is_part: fn(char) -> bool| &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        let mut chars = rest.chars();
        let (token, len) = match (chars.next(), chars.next()) {
            (None, _) => (Token::End, 0),
            (Some('('), _) => (Token::Open, 1),
            (Some(')'), _) => (Token::Close, 1),
            (Some(','), _) => (Token::Comma, 1),
            (Some('?'), _) => (Token::Optional, 1),
            (Some('-'), Some('>')) => (Token::Arrow, 2),
            (Some('|'), Some('1')) => (Token::Stretching, 2),
            (Some('+'), _) => (Token::Op(Op::Plus), 1),
            (Some('-'), _) => (Token::Op(Op::Minus), 1),
            (Some('*'), _) => (Token::Op(Op::Times), 1),
            (Some('/'), _) => (Token::Op(Op::Over), 1),
            (Some('0'..='9'), _) => {
                let digits = run(|c| c.is_ascii_digit());
                (Token::Integer(digits), digits.len())
            }
            (Some('A'..='Z' | 'a'..='z' | '_'), _) => {
                let name = run(|c| c.is_ascii_alphanumeric() || c == '_');
                (Token::Name(name), name.len())
            }
            (Some(other), _) => (Token::Unknown, other.len_utf8()),
        };
        (start, start + len, token)
    }

    /// Goes past the next token if it is this one.
    fn takes(&mut self, token: Token<'_>) -> bool {
        let (_, end, next) = self.peek();
        let found = next == token;
        if found {
            self.at = end;
        }
        found
    }

    fn expect(&mut self, token: Token<'_>, expected: &'static str) -> Result<(), Fault> {
        if self.takes(token) { Ok(()) } else { Err(self.refused(expected)) }
    }

    /// The fault of the next token.
    fn refused(&self, expected: &'static str) -> Fault {
        let (start, end, _) = self.peek();
        (Some(start), SignatureFlaw::Token { expected, found: self.text[start..end].to_string() })
    }

    pub(super) fn parsed(mut self) -> Result<Parsed, Fault> {
        let inputs = self.arguments("`(` or `->`", Self::input_axis)?;
        self.expect(Token::Arrow, "`,` or `->`")?;
        let outputs = self.arguments("`(`", Self::output_axis)?;
        self.expect(Token::End, "`,` or the end")?;
        let whole = |flaw| Err((None, flaw));
        let limit = |what, limit| whole(SignatureFlaw::Limit { what, limit });
        if let Some(name) = self.mixed {
            return whole(SignatureFlaw::Mixed { name: self.names.swap_remove(name).text });
        }
        if outputs.is_empty() {
            return whole(SignatureFlaw::NoOutput);
        }
        if inputs.len() + outputs.len() > ARGUMENTS {
            return limit("arguments", ARGUMENTS);
        }
        let ranks = inputs.iter().map(Vec::len).chain(outputs.iter().map(Vec::len));
        if ranks.max().is_some_and(|rank| rank > AXES) {
            return limit("axes of an argument", AXES);
        }
        Ok(Parsed { names: self.names, inputs, outputs })
    }

    /// Arguments in brackets; `first` says what may stand in the place of the first.
    fn arguments<T>(
        &mut self,
        first: &'static str,
        axis: impl Fn(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<Vec<T>>, Fault> {
        let mut found = Vec::new();
        if !matches!(self.peek().2, Token::Open) {
            let ends = matches!(self.peek().2, Token::Arrow | Token::End);
            return if ends { Ok(found) } else { Err(self.refused(first)) };
        }
        loop {
            self.expect(Token::Open, "`(`")?;
            let mut axes = Vec::new();
            if !self.takes(Token::Close) {
                loop {
                    push(&mut axes, axis(self)?).map_err(memory)?;
                    if self.takes(Token::Close) {
                        break;
                    }
                    self.expect(Token::Comma, "`,` or `)`")?;
                }
            }
            push(&mut found, axes).map_err(memory)?;
            if !self.takes(Token::Comma) {
                return Ok(found);
            }
        }
    }

    fn input_axis(&mut self) -> Result<usize, Fault> {
        match self.peek() {
            (_, end, Token::Name(name)) => {
                self.at = end;
                let kind = self.mark().unwrap_or(Kind::Plain);
                self.name(name, kind, false)
            }
            (_, _, Token::Integer(_)) => self.integer().and_then(|value| self.fixed(value)),
            _ => Err(self.refused("a name or an integer from 1")),
        }
    }

    fn output_axis(&mut self) -> Result<Extent, Fault> {
        let (_, end, token) = self.peek();
        if let Token::Name(name) = token {
            let before = std::mem::replace(&mut self.at, end);
            if let Some(kind) = self.mark() {
                return self.name(name, kind, true).map(Extent::Of);
            }
            self.at = before;
        }
        let sum = self.sum()?;
        Ok(match *sum.items() {
            [Item::Name(name)] => Extent::Of(name),
            [Item::Integer(value)] => Extent::Of(self.fixed(value)?),
            _ => Extent::Sum(sum),
        })
    }

    /// The mark after a name, if there is one.
    fn mark(&mut self) -> Option<Kind> {
        if self.takes(Token::Optional) {
            return Some(Kind::Optional);
        }
        self.takes(Token::Stretching).then_some(Kind::Stretching)
    }

    fn integer(&mut self) -> Result<i128, Fault> {
        let (_, end, Token::Integer(digits)) = self.peek() else {
            return Err(self.refused("an integer from 1"));
        };
        if digits.bytes().all(|digit| digit == b'0') {
            return Err(self.refused("an integer from 1"));
        }
        self.at = end;
        let limit = SignatureFlaw::Limit { what: "as an extent", limit: isize::MAX as usize };
        digits.parse().map_err(|_| (None, limit))
    }

    /// The number of an integer as a dimension.
    fn fixed(&mut self, value: i128) -> Result<usize, Fault> {
        let limit = isize::MAX as usize;
        let extent = usize::try_from(value).ok().filter(|extent| *extent <= limit);
        let extent = extent.ok_or((None, SignatureFlaw::Limit { what: "as an extent", limit }))?;
        self.name(&extent.to_string(), Kind::Fixed(extent), false)
    }

    /// The number of a name with this mark. In outputs, names that stretch have none.
    fn name(&mut self, text: &str, kind: Kind, in_output: bool) -> Result<usize, Fault> {
        let known = self.names.iter().position(|name| name.text == text);
        let number = known.unwrap_or(self.names.len());
        if known.is_none() {
            push(&mut self.names, Name { text: text.to_string(), kind }).map_err(memory)?;
        }
        let own = self.names[number].kind;
        let agrees = match kind {
            Kind::Plain if in_output => own != Kind::Optional,
            Kind::Stretching => own == kind && !in_output,
            _ => own == kind,
        };
        if !agrees {
            self.mixed.get_or_insert(number);
        }
        Ok(number)
    }

    /// A sum, up to the comma or bracket after it.
    fn sum(&mut self) -> Result<Sum, Fault> {
        let (mut sum, mut waiting) = (Sum::default(), Vec::new());
        loop {
            match self.peek() {
                (_, end, Token::Open) => {
                    self.at = end;
                    push(&mut waiting, None).map_err(memory)?;
                    continue;
                }
                (_, end, Token::Name(name)) => {
                    self.at = end;
                    let name = self.name(name, Kind::Plain, true)?;
                    sum.push(Item::Name(name)).map_err(memory)?;
                }
                (_, _, Token::Integer(_)) => {
                    let value = self.integer()?;
                    sum.push(Item::Integer(value)).map_err(memory)?;
                }
                _ => return Err(self.refused("a name, an integer from 1 or `(`")),
            }
            let depth = |waiting: &[Option<Op>]| waiting.contains(&None);
            while depth(&waiting) && self.takes(Token::Close) {
                while let Some(Some(op)) = waiting.pop() {
                    sum.push(Item::Op(op)).map_err(memory)?;
                }
            }
            let (_, end, token) = self.peek();
            let Token::Op(op) = token else {
                let ends = matches!(token, Token::Comma | Token::Close);
                if depth(&waiting) || !ends {
                    return Err(self.refused("an operator, `,` or `)`"));
                }
                break;
            };
            self.at = end;
            while let Some(&Some(before)) = waiting.last()
                && before.binds() >= op.binds()
            {
                waiting.pop();
                sum.push(Item::Op(before)).map_err(memory)?;
            }
            push(&mut waiting, Some(op)).map_err(memory)?;
        }
        for op in waiting.into_iter().rev().flatten() {
            sum.push(Item::Op(op)).map_err(memory)?;
        }
        Ok(sum)
    }
}

/// Memory that could not be had, in a text that is bounded.
fn memory(_: Error) -> Fault {
    (None, SignatureFlaw::Limit { what: "bytes", limit: BYTES })
}
