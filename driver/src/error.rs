//! Why the device could not do something.

use ash::vk;

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The device was lost.
    DeviceLost,
    /// There was too little memory.
    OutOfMemory,
    /// A dispatch had not ended in time. The device still works on it, and is of no more use.
    TimedOut,
    /// Anything else.
    Other,
}

/// Why the device could not do something.
#[derive(Clone, Debug)]
pub struct Error {
    /// What kind of error it is.
    pub kind: ErrorKind,
    /// It in words, with the call that failed.
    pub message: String,
}

impl Error {
    /// An error that is no call's.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Error { kind: ErrorKind::Other, message: message.into() }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Names the call that failed.
pub(crate) fn failed(what: &str) -> impl FnOnce(vk::Result) -> Error + '_ {
    move |result| {
        let kind = match result {
            vk::Result::ERROR_DEVICE_LOST => ErrorKind::DeviceLost,
            vk::Result::ERROR_OUT_OF_HOST_MEMORY | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => {
                ErrorKind::OutOfMemory
            }
            vk::Result::TIMEOUT => ErrorKind::TimedOut,
            _ => ErrorKind::Other,
        };
        Error { kind, message: format!("{what}: {result}") }
    }
}
