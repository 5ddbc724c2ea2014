//! What a module asks of float operations, and which of them it leaves open.

use super::Line;

/// What the module asks of float operations. Without these modes the environment leaves more of their
/// results open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatModes {
    /// DenormPreserve: the widths in bits, or-ed.
    pub denorm_preserve: u32,
    /// SignedZeroInfNanPreserve: the widths in bits, or-ed.
    pub signed_zero_inf_nan_preserve: u32,
    /// RoundingModeRTE: the widths in bits, or-ed.
    pub rounding_mode_rte: u32,
    /// RoundingModeRTZ: the widths in bits, or-ed.
    pub rounding_mode_rtz: u32,
    /// DenormFlushToZero: the widths in bits, or-ed.
    pub denorm_flush_to_zero: u32,
    /// Some operation is decorated FPFastMathMode: then all are read as free to be rearranged.
    pub fast_math: bool,
    /// The first place that leaves results open wherever execution goes: RelaxedPrecision, or a float
    /// operation on specialisation constants.
    pub always_inexact: Option<Inexact>,
    /// That may be anything: not only results of instructions are decorated RelaxedPrecision, or there is such a
    /// float operation on specialisation constants.
    pub unbounded: bool,
}

impl FloatModes {
    /// Whether denormals of this width are kept.
    pub const fn preserves_denormals(self, width: u8) -> bool {
        self.denorm_preserve & width as u32 != 0
    }

    /// Whether NaNs, infinities and the sign of zero of this width are kept.
    pub const fn preserves_special_values(self, width: u8) -> bool {
        self.signed_zero_inf_nan_preserve & width as u32 != 0
    }

    /// Whether results of this width are rounded to nearest even.
    pub const fn rounds_to_even(self, width: u8) -> bool {
        self.rounding_mode_rte & width as u32 != 0
    }

    /// Whether results of this width are rounded towards zero.
    pub const fn rounds_to_zero(self, width: u8) -> bool {
        self.rounding_mode_rtz & width as u32 != 0
    }

    /// Whether it is said how results of this width are rounded.
    pub const fn fixes_rounding(self, width: u8) -> bool {
        self.rounds_to_even(width) || self.rounds_to_zero(width)
    }

    /// Whether denormal results of this width become zeros.
    pub const fn flushes_denormals(self, width: u8) -> bool {
        self.denorm_flush_to_zero & width as u32 != 0
    }
}

/// A float operation whose result the environment leaves open, to some degree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Inexact {
    pub line: Line,
    /// The SPIR-V opcode; OpDecorate for RelaxedPrecision.
    pub opcode: u16,
    /// The number in GLSL.std.450 for an OpExtInst, else 0.
    pub extended: u8,
}
