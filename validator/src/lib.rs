//! Translation validation for SPIR-V under the Vulkan memory model.
//!
//! The data's way: a module is read and validated ([`module`]), lowered ([`lower`]) to what the
//! interpreter runs ([`ir`], [`interp`]), executed on a [`dispatch`] into events ([`event`]), judged
//! by a memory model ([`model`]), explored ([`explore`]), compared, explained and reported.

#![forbid(unsafe_code)]

#[allow(missing_docs)]
pub mod acceleration;
#[allow(missing_docs)]
pub mod behaviour;
#[allow(missing_docs)]
pub mod check;
#[allow(missing_docs)]
pub mod cli;
#[allow(missing_docs)]
pub mod compare;
#[allow(missing_docs)]
pub mod dispatch;
#[allow(missing_docs)]
pub mod event;
#[allow(missing_docs)]
pub mod explain;
#[allow(missing_docs)]
pub mod explore;
mod files;
#[allow(missing_docs)]
pub mod interp;
#[allow(missing_docs)]
pub mod ir;
#[allow(missing_docs)]
pub mod launch;
#[allow(missing_docs)]
pub mod litmus;
#[allow(missing_docs)]
pub mod lower;
#[allow(missing_docs)]
pub mod model;
#[allow(missing_docs)]
pub mod module;
#[allow(missing_docs)]
pub mod optimise;
#[allow(missing_docs)]
pub mod report;
pub mod value;
#[allow(missing_docs)]
pub mod witness;
