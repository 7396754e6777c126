//! What there is of operators, elementwise functions and scalars: tables, handed to macros that make of them what each
//! kind of operand needs.

/// Calls a macro with the types of numbers that can stand beside a tensor.
macro_rules! for_numbers {
    ($callback:ident $($prefix:tt)*) => {
        $callback! {
            $($prefix)* i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64
            #[cfg(feature = "half")] half::f16
            #[cfg(feature = "half")] half::bf16
            #[cfg(feature = "complex")] num_complex::Complex32
            #[cfg(feature = "complex")] num_complex::Complex64
        }
    };
}

/// Calls a macro with the types of scalars that operators of a bound take on the left.
macro_rules! for_scalars {
    (Arithmetic $callback:ident $($prefix:tt)*) => {
        $crate::expr::for_numbers!($callback $($prefix)*);
    };
    (Bits $callback:ident $($prefix:tt)*) => {
        $callback! {
            $($prefix)* i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize bool
        }
    };
}

/// Operators of two operands: the operation, trait and method, the bound on elements, what the right side becomes.
macro_rules! for_binary {
    ($callback:ident $($prefix:tt)*) => {
        $callback! {
            $($prefix)*
            AddOp: Add add, Arithmetic, Expr pair;
            SubOp: Sub sub, Arithmetic, Expr pair;
            MulOp: Mul mul, Arithmetic, Expr pair;
            DivOp: Div div, Arithmetic, Divisor divisor;
            RemOp: Rem rem, Arithmetic, Divisor divisor;
            AndOp: BitAnd bitand, Bits, Expr pair;
            OrOp: BitOr bitor, Bits, Expr pair;
            XorOp: BitXor bitxor, Bits, Expr pair;
        }
    };
}

/// Operators of one operand: the operation, trait and method, the bound on elements, and what it does to one.
macro_rules! for_unary {
    ($callback:ident $($prefix:tt)*) => {
        $callback! {
            $($prefix)*
            /// `-a`; integers wrap.
            NegOp: Neg neg, Signed negated;
            /// `!a`, bitwise or logical.
            NotOp: Not not, Bits complement;
        }
    };
}

/// Operators that change their left side.
macro_rules! for_assignments {
    ($callback:ident $($prefix:tt)*) => {
        $callback! {
            $($prefix)*
            AddOp: AddAssign add_assign try_add_assign, Arithmetic "+";
            SubOp: SubAssign sub_assign try_sub_assign, Arithmetic "-";
            MulOp: MulAssign mul_assign try_mul_assign, Arithmetic "*";
            DivOp: DivAssign div_assign try_div_assign, Arithmetic "/";
            RemOp: RemAssign rem_assign try_rem_assign, Arithmetic "%";
            AndOp: BitAndAssign bitand_assign try_and_assign, Bits "&";
            OrOp: BitOrAssign bitor_assign try_or_assign, Bits "|";
            XorOp: BitXorAssign bitxor_assign try_xor_assign, Bits "^";
        }
    };
}

/// The functions of one and of two operands, each with elements, the other operand, and results as an example.
macro_rules! elementwise_table {
    ($unary:ident $binary:ident $($prefix:tt)*) => {
        $unary! {
            $($prefix)*
            /// Absolute value; the smallest integer wraps to itself. Of complex numbers it is complex, with imaginary part 0:
            /// real ones are `z.map(|z| z.norm())`.
            #[doc(alias = "absolute")]
            abs AbsOp Signed::magnitude -> T, [-1.5, 2.0] => [1.5, 2.0];
            /// -1, 0 or 1 as the sign; zeros and NaN as they are. Complex numbers keep their direction.
            #[doc(alias = "sign")]
            signum SignumOp Signed::signum -> T, [-1.5, 0.0] => [-1.0, 0.0];
            /// Square root, NaN below 0. Exact to the last bit.
            sqrt SqrtOp Real::sqrt -> T, [4.0, 2.25] => [2.0, 1.5];
            /// Cube root, of negative numbers too.
            cbrt CbrtOp Real::cbrt -> T, [8.0, -1.0] => [2.0, -1.0];
            /// `e` to the power of every element.
            exp ExpOp Real::exp -> T, [0.0, f64::NEG_INFINITY] => [1.0, 0.0];
            /// 2 to the power of every element.
            exp2 Exp2Op Real::exp2 -> T, [3.0, -1.0] => [8.0, 0.5];
            /// `exp(x) - 1`, exact near 0.
            #[doc(alias = "expm1")]
            exp_m1 ExpM1Op Real::exp_m1 -> T, [0.0, 1e-300] => [0.0, 1e-300];
            /// Natural logarithm, NaN below 0; `log` elsewhere.
            #[doc(alias = "log")]
            ln LnOp Real::ln -> T, [1.0, 0.0] => [0.0, f64::NEG_INFINITY];
            /// `ln(1 + x)`, exact near 0; NaN below -1.
            #[doc(alias = "log1p")]
            ln_1p Ln1pOp Real::ln_1p -> T, [0.0, 1e-300] => [0.0, 1e-300];
            /// Logarithm to base 2, NaN below 0.
            log2 Log2Op Real::log2 -> T, [8.0, 0.5] => [3.0, -1.0];
            /// Logarithm to base 10, NaN below 0.
            log10 Log10Op Real::log10 -> T, [1.0, 100.0] => [0.0, 2.0];
            /// Sine of an angle in radians.
            sin SinOp Real::sin -> T, [0.0, std::f64::consts::FRAC_PI_2] => [0.0, 1.0];
            /// Cosine of an angle in radians.
            cos CosOp Real::cos -> T, [0.0, std::f64::consts::PI] => [1.0, -1.0];
            /// Tangent of an angle in radians.
            tan TanOp Real::tan -> T, [0.0, -0.0] => [0.0, -0.0];
            /// Arc sine in radians, NaN outside -1 to 1.
            #[doc(alias = "arcsin")]
            asin AsinOp Real::asin -> T, [0.0, 1.0] => [0.0, std::f64::consts::FRAC_PI_2];
            /// Arc cosine in radians, NaN outside -1 to 1.
            #[doc(alias = "arccos")]
            acos AcosOp Real::acos -> T, [1.0, -1.0] => [0.0, std::f64::consts::PI];
            /// Arc tangent in radians.
            #[doc(alias = "arctan")]
            atan AtanOp Real::atan -> T, [0.0, 1.0] => [0.0, std::f64::consts::FRAC_PI_4];
            /// Hyperbolic sine.
            sinh SinhOp Real::sinh -> T, [0.0, f64::INFINITY] => [0.0, f64::INFINITY];
            /// Hyperbolic cosine.
            cosh CoshOp Real::cosh -> T, [0.0, f64::INFINITY] => [1.0, f64::INFINITY];
            /// Hyperbolic tangent.
            tanh TanhOp Real::tanh -> T, [0.0, f64::INFINITY] => [0.0, 1.0];
            /// Inverse hyperbolic sine.
            #[doc(alias = "arcsinh")]
            asinh AsinhOp Real::asinh -> T, [0.0, f64::INFINITY] => [0.0, f64::INFINITY];
            /// Inverse hyperbolic cosine, NaN below 1.
            #[doc(alias = "arccosh")]
            acosh AcoshOp Real::acosh -> T, [1.0, f64::INFINITY] => [0.0, f64::INFINITY];
            /// Inverse hyperbolic tangent, NaN outside -1 to 1.
            #[doc(alias = "arctanh")]
            atanh AtanhOp Real::atanh -> T, [0.0, 1.0] => [0.0, f64::INFINITY];
            /// Largest whole number that is not larger.
            floor FloorOp Real::floor -> T, [1.5, -1.5] => [1.0, -2.0];
            /// Smallest whole number that is not smaller.
            ceil CeilOp Real::ceil -> T, [1.5, -1.5] => [2.0, -1.0];
            /// Nearest whole number, halves away from 0; NumPy's is [`round_ties_even`](Elementwise::round_ties_even).
            round RoundOp Real::round -> T, [1.5, -0.25] => [2.0, 0.0];
            /// Nearest whole number, halves to the even one, as NumPy's `round` and `rint`.
            #[doc(alias = "rint")]
            round_ties_even RoundTiesEvenOp Real::round_ties_even -> T, [1.5, 2.5] => [2.0, 2.0];
            /// Whole number toward 0.
            #[doc(alias = "fix")]
            trunc TruncOp Real::trunc -> T, [1.5, -1.5] => [1.0, -1.0];
            /// Whether each element is NaN.
            #[doc(alias = "isnan")]
            is_nan IsNanOp Real::is_nan -> bool, [1.0, f64::NAN] => [false, true];
            /// Whether each element is infinite.
            #[doc(alias = "isinf")]
            is_infinite IsInfiniteOp Real::is_infinite -> bool, [1.0, f64::NEG_INFINITY] => [false, true];
            /// Whether each element is neither infinite nor NaN.
            #[doc(alias = "isfinite")]
            is_finite IsFiniteOp Real::is_finite -> bool, [1.0, f64::INFINITY] => [true, false];
        }
        $binary! {
            $($prefix)*
            /// The smaller of two elements, NaN if either is.
            #[doc(alias = "min")]
            minimum MinOp [Order] |a, b| a.minimum(b) => T, [1, 5] 3 => [1, 3];
            /// The larger of two elements, NaN if either is.
            #[doc(alias = "max")]
            maximum MaxOp [Order] |a, b| a.maximum(b) => T, [1, 5] 3 => [3, 5];
            /// Whether elements are equal; NaN equals nothing.
            #[doc(alias = "eq")]
            equal EqualOp [PartialEq] |a, b| a == b => bool, [1, 2] 2 => [false, true];
            /// Whether elements differ; NaN differs from everything.
            #[doc(alias = "ne")]
            not_equal NotEqualOp [PartialEq] |a, b| a != b => bool, [1, 2] 2 => [true, false];
            /// `a < b`, false if either is NaN.
            #[doc(alias = "lt")]
            less LessOp [PartialOrd] |a, b| a < b => bool, [1, 2] 2 => [true, false];
            /// `a <= b`, false if either is NaN.
            #[doc(alias = "le")]
            less_equal LessEqualOp [PartialOrd] |a, b| a <= b => bool, [2, 3] 2 => [true, false];
            /// `a > b`, false if either is NaN.
            #[doc(alias = "gt")]
            greater GreaterOp [PartialOrd] |a, b| a > b => bool, [2, 3] 2 => [false, true];
            /// `a >= b`, false if either is NaN.
            #[doc(alias = "ge")]
            greater_equal GreaterEqualOp [PartialOrd] |a, b| a >= b => bool, [1, 2] 2 => [false, true];
            /// `a` to the power of `b`.
            #[doc(alias = "power")]
            #[doc(alias = "pow")]
            powf PowfOp [Real] |a, b| a.powf(b) => T, [4.0, 2.25] 0.5 => [2.0, 1.5];
            /// Logarithm of every element to the base `other`, as the quotient of two natural ones, which are
            /// [`ln`](Elementwise::ln).
            log LogOp [Real] |a, base| a.ln().over(base.ln()) => T, [1.0, 2.0] 2.0 => [0.0, 1.0]; // The natural one is `ln`.
            /// Angle in radians of the point `(x, y)`, where this is `y` and `other` is `x`.
            #[doc(alias = "arctan2")]
            atan2 Atan2Op [Real] |a, b| a.atan2(b) => T, [0.0, 1.0] 0.0 => [0.0, std::f64::consts::FRAC_PI_2];
            /// Length of the vector `(a, b)`, without overflow on the way.
            hypot HypotOp [Real] |a, b| a.hypot(b) => T, [3.0, 0.0] 4.0 => [5.0, 4.0];
            /// The magnitude of `a` with the sign of `b`, zeros and NaN included.
            copysign CopysignOp [Real] |a, b| a.copysign(b) => T, [1.5, -2.0] -0.0 => [-1.5, -2.0];
        }
    };
}

/// Functions of integers that tell of results beyond their type, where operators wrap: what an operator does, and the trait
/// that tells.
macro_rules! checked_table {
    ($callback:ident $($prefix:tt)*) => {
        $callback! {
            $($prefix)*
            /// The sum of integers, checked: one that does not fit is
            /// [`Error::ElementOverflow`](crate::Error::ElementOverflow) with its index, where `+` wraps.
            checked_add CheckedAddOp [Arithmetic + num_traits::CheckedAdd] |a, b| a.plus(b) => num_traits::CheckedAdd,
            [1_u8, 200] 55 => [56, 255];
            /// The difference of integers, checked: one that does not fit is
            /// [`Error::ElementOverflow`](crate::Error::ElementOverflow) with its index, where `-` wraps.
            checked_sub CheckedSubOp [Arithmetic + num_traits::CheckedSub] |a, b| a.minus(b) => num_traits::CheckedSub,
            [9_u8, 200] 9 => [0, 191];
            /// The product of integers, checked: one that does not fit is
            /// [`Error::ElementOverflow`](crate::Error::ElementOverflow) with its index, where `*` wraps.
            checked_mul CheckedMulOp [Arithmetic + num_traits::CheckedMul] |a, b| a.times(b) => num_traits::CheckedMul,
            [1_u8, 25] 10 => [10, 250];
        }
    };
}

pub(crate) use {
    checked_table, elementwise_table, for_assignments, for_binary, for_numbers, for_scalars,
    for_unary,
};
