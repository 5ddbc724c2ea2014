//! spirv-opt, as the library has it.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, CStr, CString};
use std::ptr::NonNull;

use super::context::Binary;
use super::ffi;
use super::validator::RawOptions;
use crate::optimizer::{OptimizeError, OptimizeOptions, Optimized};
use crate::target_env::TargetEnv;

pub fn optimize(
    words: &[u32],
    flags: &[String],
    options: &OptimizeOptions,
) -> Result<Optimized, OptimizeError> {
    collect_messages(|| {
        let optimizer = Optimizer::new(options.target_env)?;
        optimizer.register(flags, options.preserve_interface)?;
        let raw_options = RunOptions::new(options)?;
        optimizer.run(words, &raw_options)
    })
    .map(|(words, messages)| Optimized { words, messages })
}

pub fn check_flag(flag: &str) -> Result<(), OptimizeError> {
    collect_messages(|| {
        Optimizer::new(TargetEnv::default())?.register(std::slice::from_ref(&flag.to_owned()), false)
    })
    .map(|((), _)| ())
}

/// How a step fails before its messages are known.
enum Failure {
    Flag(String),
    Run(String),
}

thread_local! {
    /// The library's message callback carries no user data; the optimiser runs on the calling thread.
    static MESSAGES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work` and hands back what it said meanwhile; messages become the text of its error.
fn collect_messages<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<(T, Vec<String>), OptimizeError> {
    MESSAGES.with_borrow_mut(Vec::clear);
    let result = work();
    let messages = MESSAGES.take();
    let explain = |fallback| if messages.is_empty() { fallback } else { messages.join("\n") };
    match result {
        Ok(value) => Ok((value, messages)),
        Err(Failure::Flag(fallback)) => Err(OptimizeError::Flag { message: explain(fallback) }),
        Err(Failure::Run(fallback)) => Err(OptimizeError::Run { message: explain(fallback) }),
    }
}

extern "C" fn record_message(
    _level: c_int,
    _source: *const c_char,
    position: *const ffi::Position,
    text: *const c_char,
) {
    if text.is_null() {
        return;
    }
    // SAFETY: the library passes a null-terminated string that lives for the call.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    // SAFETY: null, or a position that lives for the call.
    let instruction = unsafe { position.as_ref() }.map_or(0, |position| position.index);
    let message = match instruction {
        0 => text.trim_end().to_owned(),
        number => format!("instruction {number}: {}", text.trim_end()),
    };
    MESSAGES.with_borrow_mut(|messages| messages.push(message));
}

/// An optimiser object. It is used for one run: a second one returns its input unchanged.
struct Optimizer(NonNull<ffi::Optimizer>);

impl Optimizer {
    fn new(env: TargetEnv) -> Result<Self, Failure> {
        // SAFETY: `TargetEnv` only holds environments of the bundled version, and not WebGPU's, which the
        // constructor asserts against.
        let raw = NonNull::new(unsafe { ffi::spvOptimizerCreate(env.raw()) })
            .ok_or_else(|| Failure::Run("SPIRV-Tools is out of memory".into()))?;
        // SAFETY: `raw` is a live optimiser. Set before any pass is registered, since each takes a copy.
        unsafe { ffi::spvOptimizerSetMessageConsumer(raw.as_ptr(), record_message) };
        Ok(Optimizer(raw))
    }

    fn register(&self, flags: &[String], preserve_interface: bool) -> Result<(), Failure> {
        let owned: Vec<CString> = flags
            .iter()
            .map(|flag| {
                CString::new(flag.as_str())
                    .map_err(|_| Failure::Flag(format!("the flag {flag:?} contains a null character")))
            })
            .collect::<Result<_, _>>()?;
        let pointers: Vec<*const c_char> = owned.iter().map(|flag| flag.as_ptr()).collect();
        let register = if preserve_interface {
            ffi::spvOptimizerRegisterPassesFromFlagsWhilePreservingTheInterface
        } else {
            ffi::spvOptimizerRegisterPassesFromFlags
        };
        // SAFETY: a live optimiser, and `flags.len()` null-terminated strings that live for the call.
        if unsafe { register(self.0.as_ptr(), pointers.as_ptr(), pointers.len()) } {
            Ok(())
        } else {
            Err(Failure::Flag(format!("the optimiser refuses {}", flags.join(" "))))
        }
    }

    fn run(self, words: &[u32], options: &RunOptions) -> Result<Vec<u32>, Failure> {
        let mut optimized = Binary::null();
        // SAFETY: optimiser and options are live, `words` is valid for its length, and the result goes to
        // a place that owns it.
        let code = unsafe {
            ffi::spvOptimizerRun(
                self.0.as_ptr(),
                words.as_ptr(),
                words.len(),
                &mut optimized.0,
                options.raw.as_ptr(),
            )
        };
        match optimized.to_words() {
            Some(words) if code == ffi::SUCCESS => Ok(words),
            _ => Err(Failure::Run(format!("the optimiser failed with code {code} and no message"))),
        }
    }
}

impl Drop for Optimizer {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `spvOptimizerCreate` and is destroyed once.
        unsafe { ffi::spvOptimizerDestroy(self.0.as_ptr()) }
    }
}

/// An options object of the library.
struct RunOptions {
    raw: NonNull<ffi::OptimizerOptions>,
}

impl RunOptions {
    fn new(options: &OptimizeOptions) -> Result<Self, Failure> {
        // SAFETY: has no preconditions.
        let raw = NonNull::new(unsafe { ffi::spvOptimizerOptionsCreate() })
            .ok_or_else(|| Failure::Run("SPIRV-Tools is out of memory".into()))?;
        let owned = RunOptions { raw };
        let raw = raw.as_ptr();
        // SAFETY: `raw` is a live options object that nobody else holds.
        unsafe {
            ffi::spvOptimizerOptionsSetRunValidator(raw, options.validate.is_some());
            ffi::spvOptimizerOptionsSetPreserveBindings(raw, options.preserve_bindings);
            ffi::spvOptimizerOptionsSetPreserveSpecConstants(raw, options.preserve_spec_constants);
            if let Some(bound) = options.max_id_bound {
                ffi::spvOptimizerOptionsSetMaxIdBound(raw, bound);
            }
        }
        if let Some(validator) = &options.validate {
            let validator = RawOptions::new(validator).map_err(|error| Failure::Run(error.message))?;
            // SAFETY: both objects are live; the library copies the validator's options.
            unsafe { ffi::spvOptimizerOptionsSetValidatorOptions(raw, validator.as_ptr()) };
        }
        Ok(owned)
    }
}

impl Drop for RunOptions {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `spvOptimizerOptionsCreate` and is destroyed once.
        unsafe { ffi::spvOptimizerOptionsDestroy(self.raw.as_ptr()) }
    }
}
