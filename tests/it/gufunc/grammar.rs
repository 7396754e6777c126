//! Random signatures as trees, written down in their canonical text and in others that mean the same.

use crate::support::Random;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Optional,
    Stretching,
}

/// A sum; names are numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sum {
    Name(usize),
    Integer(i128),
    Op(char, Box<Sum>, Box<Sum>),
}

/// An axis of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Dim {
    Name(usize),
    Fixed(usize),
    Sum(Sum),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grammar {
    pub(super) names: Vec<(String, Kind)>,
    pub(super) inputs: Vec<Vec<Dim>>,
    pub(super) outputs: Vec<Vec<Dim>>,
}

/// How a text is written that need not be canonical.
struct Loose<'r>(Option<&'r mut Random>);

impl Loose<'_> {
    fn chance(&mut self, of: usize) -> bool {
        self.0.as_mut().is_some_and(|random| random.below(of) == 0)
    }

    /// White space, sometimes.
    fn gap(&mut self) -> &'static str {
        match self.0.as_mut().map(|random| random.below(12)) {
            Some(0) => " ",
            Some(1) => "\t",
            Some(2) => " \n ",
            _ => "",
        }
    }
}

impl Sum {
    fn binds(&self) -> u8 {
        match self {
            Self::Op('+' | '-', ..) => 1,
            Self::Op(..) => 2,
            _ => 3,
        }
    }

    fn write(&self, names: &[(String, Kind)], least: u8, loose: &mut Loose<'_>) -> String {
        let brackets = self.binds() < least || loose.chance(6);
        let text = match self {
            Self::Name(name) => names[*name].0.clone(),
            Self::Integer(value) if loose.chance(4) => format!("0{value}"),
            Self::Integer(value) => value.to_string(),
            Self::Op(op, a, b) => {
                let binds = self.binds();
                let a = a.write(names, binds, loose);
                // Operators of one rank group to the left.
                let b = b.write(names, binds + 1, loose);
                format!("{a}{}{op}{}{b}", loose.gap(), loose.gap())
            }
        };
        match brackets {
            true => format!("({}{text}{})", loose.gap(), loose.gap()),
            false => text,
        }
    }

    /// The exact value, unless a division leaves a remainder.
    pub(super) fn value(&self, extents: &[Option<usize>]) -> Option<i128> {
        match self {
            Self::Name(name) => Some(extents[*name].unwrap() as i128),
            Self::Integer(value) => Some(*value),
            Self::Op(op, a, b) => {
                let (a, b) = (a.value(extents)?, b.value(extents)?);
                match op {
                    '+' => Some(a + b),
                    '-' => Some(a - b),
                    '*' => Some(a * b),
                    _ if b != 0 && a % b == 0 => Some(a / b),
                    _ => None,
                }
            }
        }
    }

    /// A sum of some of `names` names.
    pub(super) fn random(names: &[usize], depth: usize, random: &mut Random) -> Self {
        match random.below(if depth == 0 { 3 } else { 6 }) {
            0 | 1 if !names.is_empty() => Self::Name(names[random.below(names.len())]),
            0..3 => Self::Integer(1 + random.below(3) as i128),
            _ => {
                let op = ['+', '-', '*', '/', '+', '*'][random.below(6)];
                let (a, b) = (
                    Self::random(names, depth - 1, random),
                    Self::random(names, depth - 1, random),
                );
                Self::Op(op, Box::new(a), Box::new(b))
            }
        }
    }
}

impl Grammar {
    /// So many inputs and outputs. Outputs have names of inputs alone, if `known`.
    pub(super) fn random(inputs: usize, outputs: usize, known: bool, random: &mut Random) -> Self {
        let words = ["i", "n", "m_1", "N", "_", "batch", "x2"];
        let first = random.below(words.len());
        let mut names: Vec<(String, Kind)> = (0..1 + random.below(4))
            .map(|k| {
                let kinds = [Kind::Plain, Kind::Plain, Kind::Optional, Kind::Stretching];
                (words[(first + k) % words.len()].to_string(), kinds[random.below(4)])
            })
            .collect();
        let dim = |random: &mut Random, names: usize| match random.below(5) {
            0 => Dim::Fixed(1 + random.below(3)),
            _ => Dim::Name(random.below(names)),
        };
        let inputs: Vec<Vec<Dim>> = (0..inputs)
            .map(|_| (0..random.below(4)).map(|_| dim(random, names.len())).collect())
            .collect();
        let used: Vec<usize> = (0..names.len())
            .filter(|name| inputs.iter().flatten().any(|dim| *dim == Dim::Name(*name)))
            .collect();
        let allowed: Vec<usize> = match known {
            true => used.clone(),
            false => (0..names.len()).collect(),
        };
        let in_sums: Vec<usize> =
            allowed.iter().copied().filter(|name| names[*name].1 != Kind::Optional).collect();
        let outputs = (0..outputs)
            .map(|_| {
                let dims = (0..random.below(3)).map(|_| match random.below(4) {
                    0 => Dim::Fixed(1 + random.below(3)),
                    1 => Dim::Sum(Sum::random(&in_sums, 2, random)),
                    _ if allowed.is_empty() => Dim::Fixed(2),
                    _ => Dim::Name(allowed[random.below(allowed.len())]),
                });
                // A name or a number alone is no sum.
                dims.map(|dim| match dim {
                    Dim::Sum(Sum::Name(name)) => Dim::Name(name),
                    Dim::Sum(Sum::Integer(value)) => Dim::Fixed(value as usize),
                    dim => dim,
                })
                .collect()
            })
            .collect();
        // What is in no input does not stretch.
        for (k, (_, kind)) in names.iter_mut().enumerate() {
            if *kind == Kind::Stretching && !used.contains(&k) {
                *kind = Kind::Plain;
            }
        }
        Self { names, inputs, outputs }
    }

    /// The text that a signature prints.
    pub(super) fn text(&self) -> String {
        self.write(&mut Loose(None))
    }

    /// Another text of the same signature.
    pub(super) fn loose_text(&self, random: &mut Random) -> String {
        self.write(&mut Loose(Some(random)))
    }

    fn write(&self, loose: &mut Loose<'_>) -> String {
        let mut text = loose.gap().to_string();
        for (side, arguments) in [&self.inputs, &self.outputs].into_iter().enumerate() {
            for (k, dims) in arguments.iter().enumerate() {
                text +=
                    &format!("{}{}({}", if k == 0 { "" } else { "," }, loose.gap(), loose.gap());
                for (k, dim) in dims.iter().enumerate() {
                    text += if k == 0 { "" } else { "," };
                    text += &format!(
                        "{}{}{}",
                        loose.gap(),
                        self.dim(dim, side == 1, loose),
                        loose.gap()
                    );
                }
                text += &format!("){}", loose.gap());
            }
            text += if side == 0 { "->" } else { loose.gap() };
        }
        text
    }

    fn dim(&self, dim: &Dim, in_output: bool, loose: &mut Loose<'_>) -> String {
        match dim {
            Dim::Fixed(extent) if loose.chance(4) => format!("00{extent}"),
            Dim::Fixed(extent) => extent.to_string(),
            Dim::Sum(sum) => sum.write(&self.names, 0, loose),
            Dim::Name(name) => {
                let (text, kind) = &self.names[*name];
                match kind {
                    Kind::Optional => format!("{text}{}?", loose.gap()),
                    Kind::Stretching if !in_output => format!("{text}{}|1", loose.gap()),
                    Kind::Plain | Kind::Stretching => text.clone(),
                }
            }
        }
    }
}

impl Sum {
    fn visit(&self, see: &mut dyn FnMut(Dim)) {
        match self {
            Self::Name(name) => see(Dim::Name(*name)),
            Self::Op(_, a, b) => {
                a.visit(see);
                b.visit(see);
            }
            Self::Integer(_) => {}
        }
    }
}

impl Grammar {
    /// Names and fixed extents in the order in which they first occur.
    pub(super) fn first_uses(&self) -> Vec<Dim> {
        let mut found: Vec<Dim> = Vec::new();
        let mut see = |dim: Dim| {
            if !found.contains(&dim) {
                found.push(dim);
            }
        };
        for dim in self.inputs.iter().chain(&self.outputs).flatten() {
            match dim {
                Dim::Sum(sum) => sum.visit(&mut see),
                dim => see(dim.clone()),
            }
        }
        found
    }

    /// Whether one axis says all: one dimension, once in each input and at most once in outputs.
    pub(super) fn single(&self, input_ranks: &[usize]) -> bool {
        !input_ranks.is_empty()
            && input_ranks.iter().all(|rank| *rank == 1)
            && self.first_uses().len() == 1
            && self
                .outputs
                .iter()
                .all(|dims| matches!(dims[..], [] | [Dim::Name(_) | Dim::Fixed(_)]))
    }
}
