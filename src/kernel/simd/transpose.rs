//! Squares transposed in vector registers.
//!
//! In assembly because elements may have bytes that are not initialised, which no vector type may hold. The upper halves
//! of registers are cleared at the end, as in [`stream_line`](super::stream_line).

use std::arch::x86_64::_mm256_zeroupper;
use std::mem::MaybeUninit;

/// Transposes a square of 4 by 4 elements of 8 bytes: `target[stride * i + j] = source[i + along * j]`.
///
/// # Safety
///
/// The elements named can be read and written and have 8 bytes each.
#[inline]
#[target_feature(enable = "avx")]
pub(crate) unsafe fn eights_4x4<T>(
    source: *const T,
    along: isize,
    target: *mut MaybeUninit<T>,
    stride: isize,
) {
    let (along, stride) = (along * 8, stride * 8);
    // SAFETY: the caller's promise; the registers used are declared.
    unsafe {
        std::arch::asm!(
            "vmovups {a}, [{source}]",
            "vmovups {b}, [{source} + {along}]",
            "vmovups {c}, [{source} + 2*{along}]",
            "vmovups {d}, [{source} + {along3}]",
            "vunpcklpd {e}, {a}, {b}",
            "vunpckhpd {f}, {a}, {b}",
            "vunpcklpd {a}, {c}, {d}",
            "vunpckhpd {b}, {c}, {d}",
            "vperm2f128 {c}, {e}, {a}, 0x20",
            "vperm2f128 {d}, {f}, {b}, 0x20",
            "vperm2f128 {e}, {e}, {a}, 0x31",
            "vperm2f128 {f}, {f}, {b}, 0x31",
            "vmovups [{target}], {c}",
            "vmovups [{target} + {stride}], {d}",
            "vmovups [{target} + 2*{stride}], {e}",
            "vmovups [{target} + {stride3}], {f}",
            source = in(reg) source, along = in(reg) along, along3 = in(reg) 3 * along,
            target = in(reg) target, stride = in(reg) stride, stride3 = in(reg) 3 * stride,
            a = out(ymm_reg) _, b = out(ymm_reg) _, c = out(ymm_reg) _,
            d = out(ymm_reg) _, e = out(ymm_reg) _, f = out(ymm_reg) _,
            options(nostack, preserves_flags),
        );
    }
    _mm256_zeroupper();
}

/// Transposes a square of 8 by 8 elements of 4 bytes: `target[stride * i + j] = source[i + along * j]`.
///
/// # Safety
///
/// The elements named can be read and written and have 4 bytes each.
#[inline]
#[target_feature(enable = "avx")]
pub(crate) unsafe fn fours_8x8<T>(
    source: *const T,
    along: isize,
    target: *mut MaybeUninit<T>,
    stride: isize,
) {
    let (along, stride) = (along * 4, stride * 4);
    // SAFETY: the caller's promise; the registers used are declared.
    unsafe {
        std::arch::asm!(
            "vmovups ymm0, [{source}]",
            "vmovups ymm1, [{source} + {along}]",
            "vmovups ymm2, [{source} + 2*{along}]",
            "vmovups ymm3, [{source} + {along3}]",
            "lea {source}, [{source} + 4*{along}]",
            "vmovups ymm4, [{source}]",
            "vmovups ymm5, [{source} + {along}]",
            "vmovups ymm6, [{source} + 2*{along}]",
            "vmovups ymm7, [{source} + {along3}]",
            "vunpcklps ymm8, ymm0, ymm1",
            "vunpckhps ymm9, ymm0, ymm1",
            "vunpcklps ymm10, ymm2, ymm3",
            "vunpckhps ymm11, ymm2, ymm3",
            "vunpcklps ymm12, ymm4, ymm5",
            "vunpckhps ymm13, ymm4, ymm5",
            "vunpcklps ymm14, ymm6, ymm7",
            "vunpckhps ymm15, ymm6, ymm7",
            "vunpcklpd ymm0, ymm8, ymm10",
            "vunpckhpd ymm1, ymm8, ymm10",
            "vunpcklpd ymm2, ymm9, ymm11",
            "vunpckhpd ymm3, ymm9, ymm11",
            "vunpcklpd ymm4, ymm12, ymm14",
            "vunpckhpd ymm5, ymm12, ymm14",
            "vunpcklpd ymm6, ymm13, ymm15",
            "vunpckhpd ymm7, ymm13, ymm15",
            "vperm2f128 ymm8, ymm0, ymm4, 0x20",
            "vperm2f128 ymm9, ymm1, ymm5, 0x20",
            "vperm2f128 ymm10, ymm2, ymm6, 0x20",
            "vperm2f128 ymm11, ymm3, ymm7, 0x20",
            "vperm2f128 ymm12, ymm0, ymm4, 0x31",
            "vperm2f128 ymm13, ymm1, ymm5, 0x31",
            "vperm2f128 ymm14, ymm2, ymm6, 0x31",
            "vperm2f128 ymm15, ymm3, ymm7, 0x31",
            "vmovups [{target}], ymm8",
            "vmovups [{target} + {stride}], ymm9",
            "vmovups [{target} + 2*{stride}], ymm10",
            "vmovups [{target} + {stride3}], ymm11",
            "lea {target}, [{target} + 4*{stride}]",
            "vmovups [{target}], ymm12",
            "vmovups [{target} + {stride}], ymm13",
            "vmovups [{target} + 2*{stride}], ymm14",
            "vmovups [{target} + {stride3}], ymm15",
            source = inout(reg) source => _, along = in(reg) along, along3 = in(reg) 3 * along,
            target = inout(reg) target => _, stride = in(reg) stride, stride3 = in(reg) 3 * stride,
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
            out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
            out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(nostack, preserves_flags),
        );
    }
    _mm256_zeroupper();
}

/// Transposes a square of 8 by 8 elements of 8 bytes: `target[stride * i + j] = source[i + along * j]`.
///
/// # Safety
///
/// The elements named can be read and written and have 8 bytes each.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) unsafe fn eights_8x8<T>(
    source: *const T,
    along: isize,
    target: *mut MaybeUninit<T>,
    stride: isize,
) {
    let (along, stride) = (along * 8, stride * 8);
    // SAFETY: the caller's promise; the registers used are declared.
    unsafe {
        std::arch::asm!(
            "vmovups zmm0, [{source}]",
            "vmovups zmm1, [{source} + {along}]",
            "vmovups zmm2, [{source} + 2*{along}]",
            "vmovups zmm3, [{source} + {along3}]",
            "lea {source}, [{source} + 4*{along}]",
            "vmovups zmm4, [{source}]",
            "vmovups zmm5, [{source} + {along}]",
            "vmovups zmm6, [{source} + 2*{along}]",
            "vmovups zmm7, [{source} + {along3}]",
            "vunpcklpd zmm8, zmm0, zmm1",
            "vunpckhpd zmm9, zmm0, zmm1",
            "vunpcklpd zmm10, zmm2, zmm3",
            "vunpckhpd zmm11, zmm2, zmm3",
            "vunpcklpd zmm12, zmm4, zmm5",
            "vunpckhpd zmm13, zmm4, zmm5",
            "vunpcklpd zmm14, zmm6, zmm7",
            "vunpckhpd zmm15, zmm6, zmm7",
            "vshuff64x2 zmm0, zmm8, zmm10, 0x88",
            "vshuff64x2 zmm1, zmm9, zmm11, 0x88",
            "vshuff64x2 zmm2, zmm8, zmm10, 0xdd",
            "vshuff64x2 zmm3, zmm9, zmm11, 0xdd",
            "vshuff64x2 zmm4, zmm12, zmm14, 0x88",
            "vshuff64x2 zmm5, zmm13, zmm15, 0x88",
            "vshuff64x2 zmm6, zmm12, zmm14, 0xdd",
            "vshuff64x2 zmm7, zmm13, zmm15, 0xdd",
            "vshuff64x2 zmm8, zmm0, zmm4, 0x88",
            "vshuff64x2 zmm9, zmm1, zmm5, 0x88",
            "vshuff64x2 zmm10, zmm2, zmm6, 0x88",
            "vshuff64x2 zmm11, zmm3, zmm7, 0x88",
            "vshuff64x2 zmm12, zmm0, zmm4, 0xdd",
            "vshuff64x2 zmm13, zmm1, zmm5, 0xdd",
            "vshuff64x2 zmm14, zmm2, zmm6, 0xdd",
            "vshuff64x2 zmm15, zmm3, zmm7, 0xdd",
            "vmovups [{target}], zmm8",
            "vmovups [{target} + {stride}], zmm9",
            "vmovups [{target} + 2*{stride}], zmm10",
            "vmovups [{target} + {stride3}], zmm11",
            "lea {target}, [{target} + 4*{stride}]",
            "vmovups [{target}], zmm12",
            "vmovups [{target} + {stride}], zmm13",
            "vmovups [{target} + 2*{stride}], zmm14",
            "vmovups [{target} + {stride3}], zmm15",
            source = inout(reg) source => _, along = in(reg) along, along3 = in(reg) 3 * along,
            target = inout(reg) target => _, stride = in(reg) stride, stride3 = in(reg) 3 * stride,
            out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _,
            out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm7") _,
            out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _,
            out("zmm12") _, out("zmm13") _, out("zmm14") _, out("zmm15") _,
            options(nostack, preserves_flags),
        );
    }
    _mm256_zeroupper();
}
