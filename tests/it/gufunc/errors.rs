//! Every error of signatures and calls, with its exact values and text, the order of checks, and that nothing is
//! written after one of them fails.

use crate::support::fails;
use lensor::error::{Cause, CoreAxesFlaw, SignatureFlaw};
use lensor::gufunc::{Gufunc, Signature, inner1d, matmul, minmax, polyval, solve};
use lensor::prelude::*;

fn zeros<const N: usize>(shape: [usize; N]) -> Tensor<Vec<i64>> {
    Tensor::full(shape, 0).unwrap()
}

/// A gufunc of one output that does nothing.
macro_rules! nothing {
    ($signature:literal, $inputs:literal) => {
        Gufunc::<[i64; $inputs], [i64; 1], _>::each($signature, |_, _| ()).unwrap()
    };
}

#[test]
fn malformed_signatures() {
    let fault = |text: &str, byte, flaw: SignatureFlaw, message: &str| {
        let error = Error::Signature { text: text.into(), byte, flaw };
        fails(Signature::parse(text), error, message);
    };
    let token = |expected, found: &str| SignatureFlaw::Token { expected, found: found.into() };
    fault(
        "(m),->(n)",
        Some(4),
        token("`(`", "->"),
        "malformed signature at byte 4: expected `(`, found `->`\n  (m),->(n)\n      ^",
    );
    fault(
        "(m",
        Some(2),
        token("`,` or `)`", ""),
        "malformed signature at byte 2: expected `,` or `)`, found the end\n  (m\n    ^",
    );
    // The caret counts characters, the byte bytes.
    fault(
        "(\u{e9})->()",
        Some(1),
        token("a name or an integer from 1", "\u{e9}"),
        "malformed signature at byte 1: expected a name or an integer from 1, found `\u{e9}`\n  (\u{e9})->()\n   ^",
    );
    fault(
        "(n)->()\n!",
        Some(8),
        token("`,` or the end", "!"),
        "malformed signature at byte 8: expected `,` or the end, found `!`",
    );
    fault(
        "(m?),(m)->()",
        None,
        SignatureFlaw::Mixed { name: "m".into() },
        "malformed signature: uses of m differ: `?` stands at all of them or none, `|1` at all in inputs and none in outputs",
    );
    fault("(m)->", None, SignatureFlaw::NoOutput, "malformed signature: there is no output");
    let limit = |what, limit| SignatureFlaw::Limit { what, limit };
    let many = [&["()"; 16].join(","), "->()"].concat();
    fault(&many, None, limit("arguments", 16), "malformed signature: at most 16 arguments");
    let deep = format!("({})->()", ["n"; 9].join(","));
    fault(
        &deep,
        None,
        limit("axes of an argument", 8),
        "malformed signature: at most 8 axes of an argument",
    );
    fails(
        Signature::parse(&" ".repeat(4097)),
        Error::Signature { text: String::new(), byte: None, flaw: limit("bytes", 4096) },
        "malformed signature: at most 4096 bytes",
    );
    let error = Gufunc::<[i64; 1], [i64; 1], _>::each("(3?)->()", |_, _| ()).unwrap_err();
    assert_eq!(error, Signature::parse("(3?)->()").unwrap_err());
}

#[test]
fn signatures_of_other_numbers_of_arguments() {
    fails(
        Gufunc::<[i64; 2], [i64; 1], _>::each("( n )->(n),()", |_, _| ()),
        Error::SignatureArguments {
            signature: "(n)->(n),()".into(),
            counts: [1, 2],
            inputs: 2,
            outputs: 1,
        },
        "(n)->(n),() has 1 input and 2 outputs, the function takes 2 and gives 1",
    );
}

#[test]
fn ranks() {
    let error = |argument, shape: &[usize], needs| Error::CoreRank {
        argument,
        signature: "(n,n),(n,k?)->(n,k?)".into(),
        shape: shape.to_vec(),
        needs,
    };
    let floats = |shape: &[usize]| Tensor::full(shape.to_vec(), 1.0).unwrap();
    fails(
        solve().call([&floats(&[3]), &floats(&[3])]).eval(),
        error(1, &[3], 2),
        "argument 1 of (n,n),(n,k?)->(n,k?) has shape [3] and needs 2 core axes",
    );
    fails(
        solve().call([&floats(&[3, 3]), &floats(&[])]).eval(),
        error(2, &[], 1),
        "argument 2 of (n,n),(n,k?)->(n,k?) has shape [] and needs 1 core axis",
    );
}

#[test]
fn extents_that_differ() {
    let error =
        |signature: &str, dim: &str, argument, axis, [extent, so_far, first]: [usize; 3]| {
            let (signature, dim) = (signature.into(), dim.into());
            Error::CoreExtent { signature, dim, argument, axis, extent, so_far, first, row: None }
        };
    fails(
        nothing!("(i,n),(n)->(i)", 2).call([&zeros([2, 4]), &zeros([7, 3])]).eval(),
        error("(i,n),(n)->(i)", "n", 2, 1, [3, 4, 1]),
        "core dimension n of (i,n),(n)->(i) is 4 in argument 1, 3 in argument 2 (axis 1)",
    );
    fails(
        nothing!("(3)->()", 1).call([&zeros([2])]).eval(),
        error("(3)->()", "3", 1, 0, [2, 3, 0]),
        "core dimension 3 of (3)->() is 3, 2 in argument 1 (axis 0)",
    );
    // Stretched by the second, then refused by the third; an axis that was given.
    let call = nothing!("(n|1),(n|1),(n|1)->()", 3);
    fails(
        call.call([&zeros([1, 2]), &zeros([5, 2]), &zeros([2, 2])]).axis(0).eval(),
        error("(n|1),(n|1),(n|1)->()", "n", 3, 0, [2, 5, 2]),
        "core dimension n of (n|1),(n|1),(n|1)->() is 5 in argument 2, 2 in argument 3 (axis 0)",
    );
    // No stretch without a mark.
    let error = matmul::<i64>().call([&zeros([2, 1]), &zeros([3, 2])]).eval().unwrap_err();
    assert!(matches!(error, Error::CoreExtent { extent: 3, so_far: 1, .. }));
}

#[test]
fn extents_that_are_set() {
    let set = |name: &'static str, extent| {
        nothing!("(n),(4)->(n,p)", 2).with_extents(move |dims| dims.set(name, extent))
    };
    let call = |name, extent| set(name, extent).call([&zeros([3]), &zeros([4])]).eval();
    assert_eq!(call("p", 2).unwrap()[0].shape(), [3, 2]);
    assert_eq!(call("p", 0).unwrap()[0].shape(), [3, 0]);
    let error = |dim: &str, extent, so_far| Error::CoreExtent {
        signature: "(n),(4)->(n,p)".into(),
        dim: dim.into(),
        argument: 0,
        axis: 0,
        extent,
        so_far,
        first: 0,
        row: None,
    };
    fails(
        call("n", 5),
        error("n", 5, 3),
        "core dimension n of (n),(4)->(n,p) is 3, 5 by the function of the extents",
    );
    assert_eq!(call("4", 5).unwrap_err(), error("4", 5, 4));
    let unknown = |dim: &str| Error::CoreUnknown { dim: dim.into() };
    let text = "core dimension q is in no input: give an output or extents";
    fails(call("q", 5), unknown("q"), text);
    let text = "core dimension p is in no input: give an output or extents";
    fails(call("n", 3), unknown("p"), text);
    // What is missing has extent 1, and no other.
    let missing = |extent| {
        let both = nothing!("(n,m?)->(n,m?,p)", 1).with_extents(move |dims| {
            dims.set("p", 2)?;
            dims.set("m", extent)
        });
        both.call([&zeros([3])]).eval()
    };
    assert_eq!(missing(1).unwrap()[0].shape(), [3, 2]);
    let refused = missing(2).unwrap_err();
    assert!(matches!(refused, Error::CoreExtent { extent: 2, so_far: 1, .. }), "{refused:?}");
    // All extents are seen; what an output gives is, too.
    let seen = nothing!("(n,m?)->(n,m?,p)", 1).with_extents(|dims| {
        let all: Vec<(String, Option<usize>)> =
            dims.iter().map(|(name, extent)| (name.to_string(), extent)).collect();
        assert_eq!([dims.get("n"), dims.get("m"), dims.get("x")], [Some(2), None, None]);
        Err(format!("{all:?}"))
    });
    let refused = |extents: &[(&str, usize)], text: &str| Error::CoreRefused {
        extents: extents.iter().map(|(name, extent)| (name.to_string(), *extent)).collect(),
        source: Cause::new(text),
    };
    let text = r#"[("n", Some(2)), ("m", None), ("p", None)]"#;
    fails(
        seen.call([&zeros([2])]).eval(),
        refused(&[("n", 2)], text),
        &format!("extents n = 2 refused: {text}"),
    );
    let text = r#"[("n", Some(2)), ("m", None), ("p", Some(7))]"#;
    fails(
        seen.call([&zeros([2])]).assign_to(&mut zeros([2, 7])),
        refused(&[("n", 2), ("p", 7)], text),
        &format!("extents n = 2, p = 7 refused: {text}"),
    );
}

#[test]
fn sums_that_are_no_extents() {
    let error = |sum: &str, value, extents: &[(&str, usize)]| Error::CoreComputed {
        sum: sum.into(),
        value,
        extents: extents.iter().map(|(name, extent)| (name.to_string(), *extent)).collect(),
    };
    fails(
        nothing!("(m),(n)->((m - n) + 1)", 2).call([&zeros([3]), &zeros([6])]).eval(),
        error("m-n+1", Some(-2), &[("m", 3), ("n", 6)]),
        "m-n+1 is -2 for m = 3, n = 6",
    );
    fails(
        nothing!("(n)->(n/2)", 1).call([&zeros([3])]).eval(),
        error("n/2", None, &[("n", 3)]),
        "n/2 is no whole number that fits for n = 3",
    );
    fails(
        nothing!("(n)->(n/(n-n))", 1).call([&zeros([3])]).eval(),
        error("n/(n-n)", None, &[("n", 3)]),
        "n/(n-n) is no whole number that fits for n = 3",
    );
    let huge = error("n*9223372036854775807", Some(3 * isize::MAX as i128), &[("n", 3)]);
    let call = nothing!("(n)->(n*9223372036854775807)", 1);
    assert_eq!(call.call([&zeros([3])]).eval().unwrap_err(), huge);
    let cubes = nothing!("(n)->(n*9223372036854775807*9223372036854775807*9)", 1);
    let error = cubes.call([&zeros([3])]).eval().unwrap_err();
    assert!(matches!(error, Error::CoreComputed { value: None, .. }));
    // What lies between may be negative.
    let back = nothing!("(n)->(1-n+n)", 1).call([&zeros([3])]).eval().unwrap();
    assert_eq!(back[0].shape(), [1]);
}

#[test]
fn axes() {
    let t = zeros([2, 2, 2]);
    let product = "(m?,n),(n,p?)->(m?,p?)";
    let error = |signature: &str, flaw| Error::CoreAxes { signature: signature.into(), flaw };
    let given = |axes: &[&[isize]]| matmul::<i64>().call([&t, &t]).axes(axes).eval();
    fails(
        matmul::<i64>().call([&t, &t]).axis(0).eval(),
        error(product, CoreAxesFlaw::Names { names: 3 }),
        "axis needs one core dimension, (m?,n),(n,p?)->(m?,p?) has 3",
    );
    fails(
        inner1d::<i64>().call([&t, &t]).axis(0).axes([[0], [0]]).eval(),
        error("(n),(n)->()", CoreAxesFlaw::Both),
        "axis and axes say the same: give one of them",
    );
    fails(
        given(&[&[0, 1], &[0, 1]]),
        error(product, CoreAxesFlaw::Lists { expected: 3, found: 2 }),
        "(m?,n),(n,p?)->(m?,p?) has 3 arguments, found axes of 2",
    );
    let four = given(&[&[0, 1], &[0, 1], &[0, 1], &[]]);
    assert_eq!(four.unwrap_err(), error(product, CoreAxesFlaw::Lists { expected: 3, found: 4 }));
    fails(
        given(&[&[0, 1], &[0], &[0, 1]]),
        error(product, CoreAxesFlaw::Count { argument: 2, expected: 2, found: 1 }),
        "argument 2 of (m?,n),(n,p?)->(m?,p?) has 2 core axes, found 1",
    );
    fails(
        given(&[&[0, 1], &[0, 1], &[0, 3]]),
        error(product, CoreAxesFlaw::Range { argument: 3, axis: 3, rank: 3 }),
        "axis 3 of argument 3 of (m?,n),(n,p?)->(m?,p?) does not exist: the rank is 3",
    );
    let range = |axis| error(product, CoreAxesFlaw::Range { argument: 1, axis, rank: 3 });
    for axis in [-4, isize::MIN, isize::MAX] {
        assert_eq!(given(&[&[0, axis], &[0, 1], &[0, 1]]).unwrap_err(), range(axis));
    }
    fails(
        given(&[&[0, 1], &[1, -2], &[0, 1]]),
        error(product, CoreAxesFlaw::Repeated { argument: 2, axis: -2 }),
        "axis -2 of argument 2 of (m?,n),(n,p?)->(m?,p?) was given twice",
    );
    let row = zeros([2]);
    let missing = error(product, CoreAxesFlaw::Missing);
    fails(
        matmul::<i64>().call([&row, &t]).axes([&[0][..], &[0, 1], &[0]]).eval(),
        error(product, CoreAxesFlaw::Count { argument: 1, expected: 2, found: 1 }),
        "argument 1 of (m?,n),(n,p?)->(m?,p?) has 2 core axes, found 1",
    );
    fails(
        matmul::<i64>().call([&row, &t]).axes([[0, 1]; 3]).eval(),
        missing.clone(),
        "axes of (m?,n),(n,p?)->(m?,p?) were given where optional core dimensions are missing",
    );
    assert_eq!(matmul::<i64>().call([&row, &t]).keepdims().eval().unwrap_err(), missing);
    let kept = |signature: &str| {
        let flaw = error(signature, CoreAxesFlaw::KeepDims);
        let text = format!(
            "keepdims needs inputs with the same core axes and outputs without, {signature} has others"
        );
        (flaw, text)
    };
    let (flaw, text) = kept(product);
    fails(matmul::<i64>().call([&t, &t]).keepdims().eval(), flaw, &text);
    let (flaw, text) = kept("(c),()->()");
    fails(polyval::<i64>().call([&t, &t]).keepdims().eval(), flaw, &text);
    let (flaw, text) = kept("(n),(n)->()");
    let other = inner1d::<i64>().call([&t, &t]).axes([[0], [1]]).keepdims();
    fails(other.eval(), flaw, &text);
    let beside = inner1d::<i64>().call([&t, &t]).axes([[0], [0], [0]]).keepdims();
    assert!(matches!(beside.eval(), Err(Error::CoreAxes { .. })));
    // With the axes of scalar outputs, or without; alike if they are written otherwise.
    let call = minmax::<i64>().call([&t]).axes([&[0][..], &[], &[]]);
    assert_eq!(call.eval().unwrap()[1].shape(), [2, 2]);
    assert!(call.keepdims().eval().is_ok());
    let same = inner1d::<i64>().call([&t, &t]).axes([[0], [-3]]).keepdims();
    assert_eq!(same.eval().unwrap()[0].shape(), [1, 2, 2]);
}

/// An empty list is that of a scalar output, whether or not other scalar outputs have theirs.
#[test]
fn axes_of_some_scalar_outputs() {
    let (signature, t) = ("(n)->(),(n),()", zeros([2, 3, 4]));
    let gufunc = Gufunc::<[i64; 1], [i64; 3], _>::each(signature, |_, _| ()).unwrap();
    let call = |axes: &[&[isize]]| gufunc.call([&t]).axes(axes).eval();
    let fits = |axes: &[&[isize]]| {
        let [a, b, c] = call(axes).unwrap();
        assert!(a.shape() == [2, 4] && b.shape() == [3, 2, 4] && c.shape() == [2, 4], "{axes:?}");
    };
    fits(&[&[1], &[0]]);
    fits(&[&[1], &[], &[0]]);
    fits(&[&[1], &[0], &[]]);
    fits(&[&[1], &[], &[0], &[]]);
    let error = |argument, expected, found| Error::CoreAxes {
        signature: signature.into(),
        flaw: CoreAxesFlaw::Count { argument, expected, found },
    };
    assert_eq!(call(&[&[1], &[], &[]]).unwrap_err(), error(3, 1, 0));
    assert_eq!(call(&[&[1], &[2], &[0], &[]]).unwrap_err(), error(2, 0, 1));
}
