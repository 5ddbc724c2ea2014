//! Runs a compute module on a Vulkan device and reads every resource back.
//!
//! Nothing but the Vulkan loader is needed at run time, and nothing at all to build. Without a loader or a
//! device [`Device::open`] says why. [`VulkanExecutor`] makes an executor of a device, and [`runner`] a program that speaks
//! the protocol of executors.

mod capability;
mod device;
mod error;
mod executor;
mod features;
mod float_controls;
mod formats;
mod image;
mod job;
mod job_of;
mod memory;
mod run;
pub mod runner;
mod validation;

pub use ash::vk;
pub use capability::Support;
pub use device::{Device, Wanted};
pub use error::{Error, ErrorKind};
pub use executor::VulkanExecutor;
pub use formats::format_named;
pub use job::{Address, Binding, Image, Job, Resource, Sampler};
