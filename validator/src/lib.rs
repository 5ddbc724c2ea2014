//! Translation validation for SPIR-V under the Vulkan memory model.
//!
//! The data's way: a module is read and validated ([`module`]), lowered ([`lower`]) to what the
//! interpreter runs ([`ir`], [`interp`]), executed on a [`dispatch`] into events ([`event`]), judged
//! by a memory model ([`model`]), explored ([`explore`]), compared, explained and reported.

#![forbid(unsafe_code)]

pub mod acceleration;
pub mod behaviour;
pub mod check;
pub mod cli;
pub mod compare;
pub mod dispatch;
pub mod event;
pub mod explain;
pub mod explore;
mod files;
pub mod interp;
pub mod ir;
pub mod launch;
pub mod litmus;
pub mod lower;
pub mod model;
pub mod module;
pub mod optimise;
pub mod report;
pub mod value;
pub mod witness;
