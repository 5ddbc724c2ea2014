//! Translation validation for SPIR-V under the Vulkan memory model: does a module, after an optimisation, do
//! only what it was allowed to do before?
//!
//! [`check()`] compares two modules and gives a [`check::CheckReport`], which [`report`] writes as text or JSON.
//! [`check_each()`] hands over the result of each input as it comes, and [`outcomes()`] computes what one module may do.
//! They take binaries or assembly text; the module [`mod@check`] has the same for modules that are read already.
//!
//! ```
//! use spirv_tv::compare::Verdict;
//! use spirv_tv::{check, Options};
//!
//! let text = |value: u32| {
//!     format!(
//!         "OpCapability Shader
//!          OpMemoryModel Logical GLSL450
//!          OpEntryPoint GLCompute %main \"main\"
//!          OpExecutionMode %main LocalSize 1 1 1
//!          OpDecorate %block Block
//!          OpMemberDecorate %block 0 Offset 0
//!          OpDecorate %buffer DescriptorSet 0
//!          OpDecorate %buffer Binding 0
//!          %void = OpTypeVoid
//!          %uint = OpTypeInt 32 0
//!          %zero = OpConstant %uint 0
//!          %value = OpConstant %uint {value}
//!          %block = OpTypeStruct %uint
//!          %to_block = OpTypePointer StorageBuffer %block
//!          %to_uint = OpTypePointer StorageBuffer %uint
//!          %buffer = OpVariable %to_block StorageBuffer
//!          %signature = OpTypeFunction %void
//!          %main = OpFunction %void None %signature
//!          %entry = OpLabel
//!          %place = OpAccessChain %to_uint %buffer %zero
//!          OpStore %place %value
//!          OpReturn
//!          OpFunctionEnd"
//!     )
//! };
//! let report = check(text(1), text(2), &Options::default())?;
//! assert_eq!(report.verdict, Verdict::Violates);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The way of the data: a module is read and validated ([`module`]), lowered to what the interpreter runs, executed on
//! a dispatch ([`launch`]) into events ([`event`]), judged by a memory model ([`model`]), explored ([`explore`]),
//! compared ([`compare`]), explained and reported ([`report`]).
//!
//! The modules that this page lists are the interface. Others are public for the command `spirv-tv`, the tests and the
//! benchmarks of the repository: they are hidden here, and may change in any version.
//!
//! The feature `bundled` (the default) compiles SPIRV-Tools in; without it the programs on the `PATH` are run
//! ([`toolchain`]).

#![forbid(unsafe_code)]

pub mod behaviour;
pub mod check;
pub mod compare;
pub mod explore;
pub mod launch;
pub mod litmus;
pub mod module;
pub mod optimise;
pub mod report;
pub mod witness;

// For the command, the tests and the benchmarks of this repository only.
#[doc(hidden)]
pub mod acceleration;
#[doc(hidden)]
pub mod correspondence;
#[doc(hidden)]
pub mod coverage;
#[doc(hidden)]
pub mod dispatch;
#[doc(hidden)]
pub mod explain;
#[doc(hidden)]
pub mod files;
#[doc(hidden)]
pub mod interp;
#[doc(hidden)]
pub mod ir;
#[doc(hidden)]
pub mod lower;

pub use check::bytes::{check, check_each, outcomes, Error, Options};
pub use spirv_tv_model as model;
pub use spirv_tv_model::{event, value};
pub use spirv_tv_toolchain as toolchain;
