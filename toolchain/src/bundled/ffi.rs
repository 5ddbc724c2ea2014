//! The part of the C interface of SPIRV-Tools (`libspirv.h`) that this crate calls.
//!
//! Declared here rather than taken from `spirv-tools-sys`, whose declarations lack the disassembler's
//! newer options, several validator options and the optimiser's flags. Result codes are plain integers,
//! so that a code that this version does not know is no undefined behaviour.

use std::ffi::{c_char, c_int};
use std::marker::{PhantomData, PhantomPinned};

// Links the static library; nothing of the crate itself is used.
use spirv_tools_sys as _;

/// `SPV_SUCCESS`.
pub const SUCCESS: c_int = 0;

pub const TEXT_TO_BINARY_PRESERVE_NUMERIC_IDS: u32 = 1 << 1;

pub const BINARY_TO_TEXT_INDENT: u32 = 1 << 3;
pub const BINARY_TO_TEXT_NO_HEADER: u32 = 1 << 5;
pub const BINARY_TO_TEXT_FRIENDLY_NAMES: u32 = 1 << 6;
pub const BINARY_TO_TEXT_COMMENT: u32 = 1 << 7;

/// Declares types that C only hands out pointers to.
macro_rules! opaque {
    ($($name:ident),*) => {$(
        #[repr(C)]
        pub struct $name {
            _data: [u8; 0],
            _not_send_sync_unpin: PhantomData<(*mut u8, PhantomPinned)>,
        }
    )*};
}

opaque!(Context, ValidatorOptions, Optimizer, OptimizerOptions);

/// Receives the optimiser's messages: level, source, position, text. It has no user data.
pub type MessageConsumer = extern "C" fn(c_int, *const c_char, *const Position, *const c_char);

#[repr(C)]
pub struct Binary {
    pub code: *mut u32,
    pub word_count: usize,
}

#[repr(C)]
pub struct ConstBinary {
    pub code: *const u32,
    pub word_count: usize,
}

#[repr(C)]
pub struct Text {
    pub data: *const c_char,
    pub length: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Position {
    pub line: usize,
    pub column: usize,
    pub index: usize,
}

#[repr(C)]
pub struct Diagnostic {
    pub position: Position,
    pub error: *mut c_char,
    pub is_text_source: bool,
}

extern "C" {
    pub fn spvSoftwareVersionString() -> *const c_char;
    pub fn spvSoftwareVersionDetailsString() -> *const c_char;

    pub fn spvContextCreate(env: u32) -> *mut Context;
    pub fn spvContextDestroy(context: *mut Context);

    pub fn spvTextToBinaryWithOptions(
        context: *const Context,
        text: *const c_char,
        length: usize,
        options: u32,
        binary: *mut *mut Binary,
        diagnostic: *mut *mut Diagnostic,
    ) -> c_int;
    pub fn spvBinaryToText(
        context: *const Context,
        words: *const u32,
        word_count: usize,
        options: u32,
        text: *mut *mut Text,
        diagnostic: *mut *mut Diagnostic,
    ) -> c_int;
    pub fn spvValidateWithOptions(
        context: *const Context,
        options: *const ValidatorOptions,
        binary: *const ConstBinary,
        diagnostic: *mut *mut Diagnostic,
    ) -> c_int;

    pub fn spvBinaryDestroy(binary: *mut Binary);
    pub fn spvTextDestroy(text: *mut Text);
    pub fn spvDiagnosticDestroy(diagnostic: *mut Diagnostic);

    pub fn spvValidatorOptionsCreate() -> *mut ValidatorOptions;
    pub fn spvValidatorOptionsDestroy(options: *mut ValidatorOptions);
    pub fn spvValidatorOptionsSetUniversalLimit(options: *mut ValidatorOptions, limit: u32, value: u32);
    pub fn spvValidatorOptionsSetRelaxStoreStruct(options: *mut ValidatorOptions, value: bool);
    pub fn spvValidatorOptionsSetRelaxLogicalPointer(options: *mut ValidatorOptions, value: bool);
    pub fn spvValidatorOptionsSetBeforeHlslLegalization(options: *mut ValidatorOptions, value: bool);
    pub fn spvValidatorOptionsSetRelaxBlockLayout(options: *mut ValidatorOptions, value: bool);
    pub fn spvValidatorOptionsSetUniformBufferStandardLayout(options: *mut ValidatorOptions, value: bool);
    pub fn spvValidatorOptionsSetScalarBlockLayout(options: *mut ValidatorOptions, value: bool);
    pub fn spvValidatorOptionsSetWorkgroupScalarBlockLayout(options: *mut ValidatorOptions, value: bool);
    pub fn spvValidatorOptionsSetSkipBlockLayout(options: *mut ValidatorOptions, value: bool);
    pub fn spvValidatorOptionsSetAllowLocalSizeId(options: *mut ValidatorOptions, value: bool);
    pub fn spvValidatorOptionsSetAllowOffsetTextureOperand(options: *mut ValidatorOptions, value: bool);
    pub fn spvValidatorOptionsSetAllowVulkan32BitBitwise(options: *mut ValidatorOptions, value: bool);
    pub fn spvValidatorOptionsSetFriendlyNames(options: *mut ValidatorOptions, value: bool);

    pub fn spvOptimizerCreate(env: u32) -> *mut Optimizer;
    pub fn spvOptimizerDestroy(optimizer: *mut Optimizer);
    pub fn spvOptimizerSetMessageConsumer(optimizer: *mut Optimizer, consumer: MessageConsumer);
    pub fn spvOptimizerRegisterPassesFromFlags(
        optimizer: *mut Optimizer,
        flags: *const *const c_char,
        flag_count: usize,
    ) -> bool;
    pub fn spvOptimizerRegisterPassesFromFlagsWhilePreservingTheInterface(
        optimizer: *mut Optimizer,
        flags: *const *const c_char,
        flag_count: usize,
    ) -> bool;
    pub fn spvOptimizerRun(
        optimizer: *mut Optimizer,
        words: *const u32,
        word_count: usize,
        optimized: *mut *mut Binary,
        options: *mut OptimizerOptions,
    ) -> c_int;

    pub fn spvOptimizerOptionsCreate() -> *mut OptimizerOptions;
    pub fn spvOptimizerOptionsDestroy(options: *mut OptimizerOptions);
    pub fn spvOptimizerOptionsSetRunValidator(options: *mut OptimizerOptions, value: bool);
    pub fn spvOptimizerOptionsSetValidatorOptions(
        options: *mut OptimizerOptions,
        validator: *mut ValidatorOptions,
    );
    pub fn spvOptimizerOptionsSetMaxIdBound(options: *mut OptimizerOptions, value: u32);
    pub fn spvOptimizerOptionsSetPreserveBindings(options: *mut OptimizerOptions, value: bool);
    pub fn spvOptimizerOptionsSetPreserveSpecConstants(options: *mut OptimizerOptions, value: bool);
}
