//! Signatures against a second parser, which is a table of states and tokens.

use super::grammar::{Dim, Grammar, Kind, Sum};
use crate::support::Random;
use lensor::Error;
use lensor::gufunc::Signature;
use quickcheck::quickcheck;
use std::collections::BTreeMap;

/// Classes of tokens, the columns of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Open,
    Close,
    Comma,
    Arrow,
    Optional,
    Stretch,
    Op,
    Name,
    Integer,
    End,
    Other,
}

/// The next state for each class, in the order above; 0 for none. From [`DEPTH`] on a bracket of a sum is open.
#[rustfmt::skip]
const TABLE: [[u8; 11]; 21] = [
    //  (   )   ,  ->   ?  |1  op name int end other
    [   0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0], // 0: nothing goes on
    [   2,  0,  0,  8,  0,  0,  0,  0,  0,  0,  0], // 1: start
    [   0,  5,  0,  0,  0,  0,  0,  3,  4,  0,  0], // 2: an input begins
    [   0,  5,  6,  0,  4,  4,  0,  0,  0,  0,  0], // 3: after its name
    [   0,  5,  6,  0,  0,  0,  0,  0,  0,  0,  0], // 4: after its dimension
    [   0,  0,  7,  8,  0,  0,  0,  0,  0,  0,  0], // 5: after an input
    [   0,  0,  0,  0,  0,  0,  0,  3,  4,  0,  0], // 6: after a comma within
    [   2,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0], // 7: after a comma between
    [   9,  0,  0,  0,  0,  0,  0,  0,  0, 20,  0], // 8: after the arrow
    [  16, 14,  0,  0,  0,  0,  0, 10, 11,  0,  0], // 9: an output begins
    [   0, 14, 15,  0, 13, 13, 12,  0,  0,  0,  0], // 10: after its name, which may have a mark
    [   0, 14, 15,  0,  0,  0, 12,  0,  0,  0,  0], // 11: after an operand
    [  16,  0,  0,  0,  0,  0,  0, 11, 11,  0,  0], // 12: after an operator
    [   0, 14, 15,  0,  0,  0,  0,  0,  0,  0,  0], // 13: after a mark
    [   0,  0, 18,  0,  0,  0,  0,  0,  0, 20,  0], // 14: after an output
    [  16,  0,  0,  0,  0,  0,  0, 10, 11,  0,  0], // 15: after a comma within
    [  16,  0,  0,  0,  0,  0,  0, 17, 17,  0,  0], // 16: in brackets, before an operand
    [   0, 19,  0,  0,  0,  0, 16,  0,  0,  0,  0], // 17: in brackets, after an operand
    [   9,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0], // 18: after a comma between
    [   0, 19,  0,  0,  0,  0, 16,  0,  0,  0,  0], // 19: a bracket closed, others may be open
    [   0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0], // 20: the end
];
const BRACKETED: u8 = 16;
const CLOSED: u8 = 19;
const AFTER_OPERAND: u8 = 11;

/// What is to be said of a text: the numbers of inputs and outputs, or where it goes wrong.
type Verdict = Result<[usize; 2], Option<usize>>;

/// The token of a text at a byte: where it begins and ends.
fn token(text: &[u8], from: usize) -> (usize, usize, Class) {
    let mut start = from;
    while start < text.len() && b" \t\n\r\x0c".contains(&text[start]) {
        start += 1;
    }
    let run = |is_part: &dyn Fn(u8) -> bool| {
        (start..text.len()).find(|&k| !is_part(text[k])).unwrap_or(text.len())
    };
    let two = text.get(start..start + 2);
    match text.get(start) {
        None => (start, start, Class::End),
        Some(b'(') => (start, start + 1, Class::Open),
        Some(b')') => (start, start + 1, Class::Close),
        Some(b',') => (start, start + 1, Class::Comma),
        Some(b'?') => (start, start + 1, Class::Optional),
        _ if two == Some(b"->") => (start, start + 2, Class::Arrow),
        _ if two == Some(b"|1") => (start, start + 2, Class::Stretch),
        Some(b'+' | b'-' | b'*' | b'/') => (start, start + 1, Class::Op),
        Some(x) if x.is_ascii_digit() => {
            let end = run(&|x| x.is_ascii_digit());
            let zero = text[start..end].iter().all(|x| *x == b'0');
            (start, end, if zero { Class::Other } else { Class::Integer })
        }
        Some(x) if x.is_ascii_alphabetic() || *x == b'_' => {
            (start, run(&|x| x.is_ascii_alphanumeric() || x == b'_'), Class::Name)
        }
        Some(_) => (start, start + 1, Class::Other),
    }
}

/// Reads a text by the table.
fn second(text: &str) -> Verdict {
    let text = text.as_bytes();
    let (mut at, mut state, mut depth) = (0, 1_u8, 0);
    let mut counts = [0, 0];
    // For each name: uses in inputs, outputs; of these with `?`; and with `|1`.
    let mut uses: BTreeMap<&[u8], [[usize; 3]; 2]> = BTreeMap::new();
    let mut last: &[u8] = b"";
    loop {
        let (start, end, class) = token(text, at);
        let mut next = TABLE[usize::from(state)][class as usize];
        let side = usize::from(state >= 8);
        match (next, class) {
            (0, _) => return Err(Some(start)),
            (BRACKETED, Class::Open) => depth += 1,
            (CLOSED, _) => {
                depth -= 1;
                next = if depth == 0 { AFTER_OPERAND } else { CLOSED };
            }
            (2, _) => counts[0] += 1,
            (9, _) => counts[1] += 1,
            (20, _) => break,
            _ => {}
        }
        let marks = match class {
            Class::Name => {
                last = &text[start..end];
                [1, 0, 0]
            }
            Class::Optional => [0, 1, 0],
            Class::Stretch => [0, 0, 1],
            _ => [0; 3],
        };
        if marks != [0; 3] {
            let own = &mut uses.entry(last).or_default()[side];
            own.iter_mut().zip(marks).for_each(|(own, mark)| *own += mark);
        }
        (at, state) = (end, next);
    }
    let agree = uses.values().all(|[inputs, outputs]| {
        let (all, optional) = (inputs[0] + outputs[0], inputs[1] + outputs[1]);
        (optional == 0 || optional == all)
            && (inputs[2] == 0 || inputs[2] == inputs[0])
            && outputs[2] == 0
    });
    if agree && counts[1] > 0 { Ok(counts) } else { Err(None) }
}

fn verdict(text: &str) -> Verdict {
    match Signature::parse(text) {
        Ok(signature) => Ok([signature.inputs(), signature.outputs()]),
        Err(Error::Signature { byte, .. }) => Err(byte),
        Err(other) => panic!("{text:?}: {other}"),
    }
}

/// Compares both parsers on all texts of at most `most` further characters. Unoptimized, only where the first
/// characters may still become a signature, and two characters beyond.
fn compare(text: &mut String, most: usize, all: bool, seen: &mut usize) {
    let expected = second(text);
    assert_eq!(verdict(text), expected, "{text:?}");
    *seen += 1;
    let hopeless = matches!(expected, Err(Some(byte)) if byte + 2 < text.len());
    if most == 0 || (hopeless && !all) {
        return;
    }
    for c in "(),->i3?|1+ ".chars() {
        text.push(c);
        compare(text, most - 1, all, seen);
        text.pop();
    }
}

/// All texts up to 7 characters.
#[test]
fn both_parsers_say_the_same() {
    let mut seen = 0;
    if cfg!(debug_assertions) {
        compare(&mut String::new(), 4, true, &mut seen);
        compare(&mut String::new(), 7, false, &mut seen);
    } else {
        compare(&mut String::new(), 7, true, &mut seen);
    }
    println!("{seen} texts");
}

/// A signature from a seed.
fn random(seed: u64) -> (Grammar, Random) {
    let mut random = Random(seed);
    random.below(1);
    let (inputs, outputs) = (random.below(4), 1 + random.below(3));
    (Grammar::random(inputs, outputs, false, &mut random), random)
}

/// The canonical text, with names by number: what is left if names do not matter.
fn pattern(grammar: &Grammar) -> String {
    let mut order: Vec<usize> = Vec::new();
    let mut see = |name: usize| {
        if !order.contains(&name) {
            order.push(name);
        }
    };
    fn visit(sum: &Sum, see: &mut impl FnMut(usize)) {
        match sum {
            Sum::Name(name) => see(*name),
            Sum::Op(_, a, b) => {
                visit(a, see);
                visit(b, see);
            }
            Sum::Integer(_) => {}
        }
    }
    for dim in grammar.inputs.iter().chain(&grammar.outputs).flatten() {
        match dim {
            Dim::Name(name) => see(*name),
            Dim::Sum(sum) => visit(sum, &mut see),
            Dim::Fixed(_) => {}
        }
    }
    let mut renamed = grammar.clone();
    for (k, (name, _)) in renamed.names.iter_mut().enumerate() {
        *name = format!("name{}", order.iter().position(|own| *own == k).unwrap_or(99));
    }
    renamed.text()
}

/// A grammar that differs a little, perhaps only by its names.
fn changed(grammar: &Grammar, random: &mut Random) -> Grammar {
    let mut other = grammar.clone();
    let names = other.names.len();
    match random.below(6) {
        0 => other.names[random.below(names)].1 = Kind::Plain,
        1 => other.outputs.push(Vec::new()),
        2 => other.inputs.push(vec![Dim::Name(random.below(names))]),
        3 if !other.inputs.is_empty() => {
            let k = random.below(other.inputs.len());
            other.inputs[k].push(Dim::Fixed(2));
        }
        4 => {
            let (inputs, outputs) = (other.inputs.len(), other.outputs.len());
            let mut arguments = other.inputs.iter_mut().chain(&mut other.outputs);
            if let Some(dims) = arguments.nth(random.below(inputs + outputs)) {
                dims.reverse();
            }
        }
        _ => {}
    }
    for (name, _) in &mut other.names {
        name.insert(0, 'q');
    }
    other
}

quickcheck! {
    /// A text is read as what it was written from, whatever stands between its tokens, and printed without
    /// redundant brackets; what is printed reads back as equal.
    fn parsing_and_printing_are_inverse(seed: u64) -> bool {
        let (grammar, mut random) = random(seed);
        let (text, loose) = (grammar.text(), grammar.loose_text(&mut random));
        let signature: Signature = loose.parse().unwrap();
        assert_eq!(signature.to_string(), text, "{loose:?}");
        assert_eq!(second(&loose), Ok([grammar.inputs.len(), grammar.outputs.len()]), "{loose:?}");
        let again = Signature::parse(&text).unwrap();
        again == signature
            && again.is_like(&signature)
            && format!("{again:?}") == format!("Signature({text})")
            && [again.inputs(), again.outputs()] == [grammar.inputs.len(), grammar.outputs.len()]
    }

    /// Names do not matter to likeness, and all else does.
    fn likeness_is_equality_up_to_names(seed: u64) -> bool {
        let (grammar, mut random) = random(seed);
        let other = changed(&grammar, &mut random);
        let parsed = |grammar: &Grammar| Signature::parse(&grammar.text()).ok();
        let (Some(a), Some(b)) = (parsed(&grammar), parsed(&other)) else { return true };
        let like = pattern(&grammar) == pattern(&other);
        assert_eq!(a.is_like(&b), like, "{a} {b}");
        assert_eq!(b.is_like(&a), like, "{a} {b}");
        assert_eq!(a == b, a.to_string() == b.to_string(), "{a} {b}");
        true
    }

    /// Both parsers agree on texts with a token that is another, missing or too much.
    fn both_parsers_say_the_same_of_spoilt_texts(seed: u64) -> bool {
        let (grammar, mut random) = random(seed);
        let mut text = grammar.loose_text(&mut random);
        for _ in 0..1 + random.below(2) {
            let at = random.below(text.len() + 1);
            let to = (at + random.below(3)).min(text.len());
            let tokens = ["(", ")", ",", "->", "?", "|1", "+", "-", "*", "/", "n", "i", "3", "0", "\u{e9}", ">", "|", ""];
            if text.is_char_boundary(at) && text.is_char_boundary(to) {
                text.replace_range(at..to, tokens[random.below(tokens.len())]);
            }
        }
        assert_eq!(verdict(&text), second(&text), "{text:?}");
        true
    }
}

/// Limits are those of the specification, and lie in the whole.
#[test]
fn limits() {
    let verdicts = [
        ([&["()"; 15].join(","), "->()"].concat(), Ok([15, 1])),
        ([&["()"; 16].join(","), "->()"].concat(), Err(None)),
        (["->", &["()"; 16].join(",")].concat(), Ok([0, 16])),
        (["->", &["()"; 17].join(",")].concat(), Err(None)),
        (format!("({})->()", ["n"; 8].join(",")), Ok([1, 1])),
        (format!("({})->()", ["n"; 9].join(",")), Err(None)),
        (format!("->({})", ["n+1"; 9].join(",")), Err(None)),
        (format!("(n)->(){}", " ".repeat(4096 - 7)), Ok([1, 1])),
        (format!("(n)->(){}", " ".repeat(4096 - 6)), Err(None)),
        (format!("({})->()", isize::MAX), Ok([1, 1])),
        (format!("({})->()", isize::MAX as u128 + 1), Err(None)),
        (format!("(n)->(n*{})", i128::MAX), Ok([1, 1])),
        (format!("(n)->(n*{}0)", i128::MAX), Err(None)),
        (format!("->({}n{})", "(".repeat(2000), ")".repeat(2000)), Ok([0, 1])),
        (format!("->({}n{})", "(1+".repeat(1000), ")".repeat(1000)), Ok([0, 1])),
        (format!("->({}n", "(".repeat(2000)), Err(Some(2004))),
    ];
    for (text, expected) in verdicts {
        assert_eq!(verdict(&text), expected, "{}", &text[..text.len().min(60)]);
        if let Ok(signature) = Signature::parse(&text) {
            assert_eq!(Signature::parse(&signature.to_string()), Ok(signature));
        }
    }
}
