//! Runs a compute module on a Vulkan device and reads every resource back: the tests' independent oracle.
//!
//! Nothing but the Vulkan loader is needed at run time, and nothing at all to build. Without a loader or a
//! device [`Device::open`] says why.

mod capability;
mod device;
mod features;
mod image;
mod job;
mod memory;
mod run;

pub use ash::vk;
pub use capability::Support;
pub use device::Device;
pub use job::{Address, Binding, Image, Job, Resource, Sampler};

/// Why the device could not do something.
#[derive(Debug)]
pub struct Error(pub String);

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Names the call that failed.
fn failed(what: &str) -> impl FnOnce(vk::Result) -> Error + '_ {
    move |result| Error(format!("{what}: {result}"))
}
