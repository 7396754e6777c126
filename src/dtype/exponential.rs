//! Exponentials and logarithms without branches, tables or calls, so that loops over them become vector instructions.
//!
//! Products are rounded before they are added, never fused, so results are the same on every processor. Arguments are
//! reduced as usual (Cody and Waite, *Software Manual for the Elementary Functions*, 1980): `e^x` is `2^k e^r` with `r`
//! at most half of `ln 2`, and `ln x` is `k ln 2 + ln m` with `m` between the roots of 1/2 and of 2. Polynomials are
//! interpolations at Chebyshev nodes and, for logarithms, minimax (Remez). For `f64`, errors are below 1 ulp (`exp`,
//! `ln`, `powf`) and 2.5 ulp (`tanh`); `f32` is computed in `f64` and rounded once.

/// Added to a number below 2^51 in magnitude, it leaves the nearest whole number in the lowest bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// The leading 32 bits of `ln 2`, so that products with exponents are exact, and the rest.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
/// `2 / (3 ln 2)`: its leading 26 bits, and the rest.
const LOG: [f64; 2] = [0.961_796_686_053_276_1, 7.872_699_542_894_897e-9];
/// Bits of the significand.
const BITS: u32 = f64::MANTISSA_DIGITS - 1;

/// The polynomial with these coefficients, the constant one first; four at a time, so that few additions wait for others.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: [[f64; 4]; N]) -> f64 {
    let square = x * x;
    let four = |[a, b, c, d]: [f64; 4]| (a + b * x) + (c + d * x) * square;
    let fourth = square * square;
    coefficients.map(four).into_iter().rev().reduce(|sum, four| four + sum * fourth).unwrap_or(0.0)
}

/// Two to a whole number that was added to [`ROUND`], if that is a normal number.
#[inline(always)]
fn power_of_2(shifted: f64) -> f64 {
    f64::from_bits((shifted.to_bits() << BITS).wrapping_add(1_f64.to_bits()))
}

/// `k` in the lowest bits, `k`, and `e^r - 1` for `x = k ln 2 + r`.
#[inline(always)]
fn reduced(x: f64) -> [f64; 3] {
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    [shifted, k, exp_m1(x - k * LN_2[0], -(k * LN_2[1]))]
}

/// `e^(high + low) - 1` for a sum of at most half of `ln 2`.
#[inline(always)]
fn exp_m1(high: f64, low: f64) -> f64 {
    let r = high + low;
    let rest = polynomial(
        r,
        [
            [0.5, 0.166_666_666_666_666_66, 0.041_666_666_666_666_68, 0.008_333_333_333_333_333],
            [
                0.001_388_888_888_887_907_3,
                0.000_198_412_698_412_632_98,
                2.480_158_733_644_223_6e-5,
                2.755_731_924_721_873e-6,
            ],
            [
                2.755_726_327_908_85e-7,
                2.505_207_109_429_355e-8,
                2.091_813_773_764_273_6e-9,
                1.608_662_795_678_037e-10,
            ],
        ],
    );
    (r * r * rest + low) + high
}

/// `e^x`.
#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    // Beyond these the result is 0 or infinite.
    let [_, k, rest] = reduced(x.clamp(-746.0, 710.0));
    scaled(1.0 + rest, k)
}

/// `x` times 2 to a whole number, in two steps, as that power itself may be no normal number.
#[inline(always)]
fn scaled(x: f64, k: f64) -> f64 {
    let half = k * 0.5 + ROUND;
    let other = (k - (half - ROUND)) + ROUND;
    x * power_of_2(half) * power_of_2(other)
}

/// `e^x`.
#[inline(always)]
pub(super) fn exp_f32(x: f32) -> f32 {
    // Powers of 2 are normal numbers of `f64` here.
    wide_exp(f64::from(x).clamp(-104.0, 89.0)) as f32
}

/// `e^x` to some 32 bits, if it is a normal number.
#[inline(always)]
fn wide_exp(x: f64) -> f64 {
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let r = x - (shifted - ROUND) * std::f64::consts::LN_2;
    let rest = polynomial(
        r,
        [
            [1.0, 1.0, 0.500_000_001_346_581, 0.166_666_666_816_232_32],
            [
                0.041_666_464_925_285_904,
                0.008_333_310_925_480_9,
                0.001_393_364_999_630_925_1,
                0.000_198_909_908_246_736_54,
            ],
        ],
    );
    rest * power_of_2(shifted)
}

/// The exponent of a positive number, and how far its significand, between the roots of 1/2 and of 2, is from 1.
#[inline(always)]
fn split(x: f64) -> [f64; 2] {
    let subnormal = x < f64::MIN_POSITIVE;
    let (x, below) = if subnormal { (x * 18_014_398_509_481_984.0, 54.0) } else { (x, 0.0) };
    let root = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    let shifted = x.to_bits().wrapping_add(1_f64.to_bits() - root);
    // A whole number below 2^52 as the significand of one at least as large.
    let offset = 4_503_599_627_370_496_f64;
    let k = f64::from_bits(offset.to_bits() | shifted >> BITS) - (offset + 1023.0) - below;
    let significand = (shifted & ((1 << BITS) - 1)).wrapping_add(root);
    [k, f64::from_bits(significand) - 1.0]
}

/// The logarithm of `x`, or what it is where that is no positive number.
#[inline(always)]
fn or_limit(x: f64, logarithm: f64) -> f64 {
    // An infinity and a NaN are their logarithms.
    let finite = if x < f64::INFINITY { logarithm } else { x };
    let none = if x == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    if x > 0.0 { finite } else { none }
}

/// `s = f / (2 + f)`, and `s^2` times the polynomial of it with these coefficients: `ln(1 + f)` is `2 atanh(s)`.
#[inline(always)]
fn atanh_series<const N: usize>(f: f64, coefficients: [[f64; 4]; N]) -> [f64; 2] {
    let s = f / (2.0 + f);
    let square = s * s;
    [s, square * polynomial(square, coefficients)]
}

/// `ln x`.
#[inline(always)]
pub(super) fn ln(x: f64) -> f64 {
    // ln(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + 2/3 s^2 + 2/5 s^4 + ..).
    let [k, f] = split(x);
    let [s, series] = atanh_series(
        f,
        [
            [
                0.666_666_666_666_666_6,
                0.400_000_000_000_062_5,
                0.285_714_285_690_859,
                0.222_222_226_467_910_84,
            ],
            [
                0.181_817_756_661_735_55,
                0.153_870_907_214_019_03,
                0.132_501_190_773_452_02,
                0.132_513_195_436_035_99,
            ],
        ],
    );
    let half = 0.5 * f * f;
    let rest = s * (half + series) + k * LN_2[1];
    or_limit(x, ((rest - half) + f) + k * LN_2[0])
}

/// `ln x`.
#[inline(always)]
pub(super) fn ln_f32(x: f32) -> f32 {
    wide_ln(f64::from(x)) as f32
}

/// `ln x` to some 36 bits.
#[inline(always)]
fn wide_ln(x: f64) -> f64 {
    let [k, f] = split(x);
    let [s, series] = atanh_series(
        f,
        [[
            0.666_666_656_450_396_6,
            0.400_003_352_938_200_55,
            0.285_373_015_125_262_14,
            0.235_822_932_458_122_55,
        ]],
    );
    or_limit(x, s * (2.0 + series) + k * std::f64::consts::LN_2)
}

/// The hyperbolic tangent.
#[inline(always)]
pub(super) fn tanh(x: f64) -> f64 {
    // t / (t + 2) for t = e^2x - 1. From 22 on it is 1 but for rounding.
    let [shifted, _, rest] = reduced((2.0 * x.abs()).clamp(0.0, 44.0));
    let power = power_of_2(shifted);
    let t = power * rest + (power - 1.0);
    (t / (t + 2.0)).copysign(x)
}

/// The hyperbolic tangent.
#[inline(always)]
pub(super) fn tanh_f32(x: f32) -> f32 {
    tanh(f64::from(x)) as f32
}

/// The leading 26 bits: products of two of these are exact.
#[inline(always)]
fn leading(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & 0xffff_ffff_f800_0000)
}

/// The logarithm to base 2 of a positive number as a sum whose first part has 26 bits, to some 65 bits.
///
/// As in `fdlibm`, `ln m = 2/3 s (3 + s^2 + 3/5 s^4 + ..)`.
#[inline(always)]
fn log_2(x: f64) -> [f64; 2] {
    let [k, f] = split(x);
    let sum = 2.0 + f;
    let quotient = f / sum;
    let (s, d) = (leading(quotient), leading(sum));
    let s_low = ((f - s * d) - s * ((sum - d) + (f - (sum - 2.0)))) / sum;
    let square = quotient * quotient;
    let series = polynomial(
        square,
        [
            [0.6, 0.428_571_428_571_440_6, 0.333_333_333_324_769_8, 0.272_727_275_044_863_6],
            [
                0.230_768_923_081_337_23,
                0.200_022_138_004_498_64,
                0.175_591_874_786_468_76,
                0.175_863_893_120_326_33,
            ],
        ],
    );
    let rest = square * square * series + s_low * (s + quotient);
    let t = leading(3.0 + s * s + rest);
    let t_low = rest - ((t - 3.0) - s * s);
    let (product, product_low) = (s * t, s_low * t + t_low * quotient);
    let p = leading(product + product_low);
    let p_low = product_low - (p - product);
    let (z, z_low) = (LOG[0] * p, LOG[1] * p + p_low * (LOG[0] + LOG[1]));
    let high = leading((z + z_low) + k);
    [high, z_low - ((high - k) - z)]
}

/// `x^y`, with the special cases of IEEE 754 (`pow`).
#[inline(always)]
pub(super) fn powf(x: f64, y: f64) -> f64 {
    let [log, log_low] = log_2(x.abs());
    // Beyond 2^65 every power but of 1 is 0 or infinite.
    let factor = y.clamp(-36_893_488_147_419_103_232.0, 36_893_488_147_419_103_232.0);
    let lead = leading(factor);
    let high = (lead * log).clamp(-1100.0, 1100.0);
    let low = ((factor - lead) * log + factor * log_low).clamp(-0.25, 0.25);
    let k = ((high + low) + ROUND) - ROUND;
    let r = leading((high - k) + low);
    let r_low = low - (r - (high - k));
    let ln_2 = leading(LN_2[0]);
    let ln_2_low = (LN_2[0] - ln_2) + LN_2[1];
    let rest = exp_m1(r * ln_2, r * ln_2_low + r_low * std::f64::consts::LN_2);
    power(x, y, scaled(1.0 + rest, k))
}

/// `x^y`, with the special cases of IEEE 754 (`pow`).
#[inline(always)]
pub(super) fn powf_f32(x: f32, y: f32) -> f32 {
    let (x, y) = (f64::from(x), f64::from(y));
    power(x, y, wide_exp((y * ln(x.abs())).clamp(-104.0, 89.0))) as f32
}

/// `x^y`, which is `|x|^y` but for its sign and for special cases.
#[inline(always)]
fn power(x: f64, y: f64, of_magnitude: f64) -> f64 {
    // Of zero and infinity.
    let limit = if (x == 0.0) == (y > 0.0) { 0.0 } else { f64::INFINITY };
    let is_limit = x == 0.0 || x.abs() == f64::INFINITY;
    let power = if is_limit { limit } else { of_magnitude };
    let is_whole = y.trunc() == y;
    let is_odd = is_whole && (0.5 * y).trunc() != 0.5 * y;
    let power = if is_odd { power.copysign(x) } else { power };
    // Of negative numbers there are only whole powers, but of infinity.
    let exists = (is_whole || x >= 0.0 || x == f64::NEG_INFINITY) && !x.is_nan() && !y.is_nan();
    let power = if exists { power } else { f64::NAN };
    if x == 1.0 || y == 0.0 || x == -1.0 && y.abs() == f64::INFINITY { 1.0 } else { power }
}
