//! Checks of modules that are bytes or text, and are read first.

use super::error::CheckError;
use super::options::CheckOptions;
use super::outcomes as outcomes_of;
use super::pair::check_each as check_modules;
use super::result::{CheckReport, OutcomesReport, Run};
use super::watch::Watch;
use crate::module::{Module, ReadError, ReadOptions};

/// How modules are read, and everything that a check depends on beside them. The default is that of the command:
/// the default launch, automatic inputs, the newest revision of the Vulkan memory model.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How the modules are assembled and validated.
    pub read: ReadOptions,
    /// Launch, inputs, choices and bounds (docs/semantics.md, section 3).
    pub check: CheckOptions,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A module cannot be read, or is invalid.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The pair or the launch makes no sense, or spirv-tv has a bug.
    #[error(transparent)]
    Check(#[from] CheckError),
}

/// Checks whether `after` refines `before` (docs/semantics.md, section 1). Both are binaries of either endianness or
/// assembly text; reports call them `before` and `after`.
///
/// # Errors
/// A module that cannot be read or is invalid, and options that make no sense for the pair. What is merely not
/// supported makes an inconclusive report.
pub fn check(
    before: impl AsRef<[u8]>,
    after: impl AsRef<[u8]>,
    options: &Options,
) -> Result<CheckReport, Error> {
    check_each(before, after, options, |_| ())
}

/// As [`check()`], and hands over the run of each entry point and input as soon as it is final. The report has the
/// same runs in the same order.
///
/// ```no_run
/// let (before, after) = (std::fs::read("before.spv")?, std::fs::read("after.spv")?);
/// let report = spirv_tv::check_each(before, after, &spirv_tv::Options::default(), |run| {
///     println!("{}, input {}: {}", run.entry, run.input.name, run.comparison.verdict);
/// })?;
/// println!("in all: {}", report.verdict);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As for [`check()`]. Runs that ended before the error were handed over.
pub fn check_each(
    before: impl AsRef<[u8]>,
    after: impl AsRef<[u8]>,
    options: &Options,
    mut each: impl FnMut(&Run),
) -> Result<CheckReport, Error> {
    let before = Module::from_bytes(before.as_ref(), "before", &options.read)?;
    let after = Module::from_bytes(after.as_ref(), "after", &options.read)?;
    Ok(check_modules(&before, &after, &named(options), &Watch::default(), &mut each)?)
}

/// Finds the outcomes of one module on each input (docs/semantics.md, section 2). It is a binary of either endianness
/// or assembly text; reports call it `module`.
///
/// # Errors
/// As for [`check()`].
pub fn outcomes(module: impl AsRef<[u8]>, options: &Options) -> Result<OutcomesReport, Error> {
    let module = Module::from_bytes(module.as_ref(), "module", &options.read)?;
    Ok(outcomes_of::outcomes(&module, &named(options), &Watch::default())?)
}

/// The options of the check, with the environment that the modules were validated for.
fn named(options: &Options) -> CheckOptions {
    let mut named = options.check.clone();
    if named.target_env.is_empty() {
        let env = options.read.assemble_env;
        named.target_env = env.map_or_else(|| "default".to_owned(), |env| env.to_string());
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Verdict;

    /// A module that stores this value to a buffer.
    fn storing(value: u32) -> String {
        format!(
            "OpCapability Shader
             OpMemoryModel Logical GLSL450
             OpEntryPoint GLCompute %main \"main\"
             OpExecutionMode %main LocalSize 1 1 1
             OpDecorate %block Block
             OpMemberDecorate %block 0 Offset 0
             OpDecorate %buffer DescriptorSet 0
             OpDecorate %buffer Binding 0
             %void = OpTypeVoid
             %uint = OpTypeInt 32 0
             %zero = OpConstant %uint 0
             %value = OpConstant %uint {value}
             %block = OpTypeStruct %uint
             %to_block = OpTypePointer StorageBuffer %block
             %to_uint = OpTypePointer StorageBuffer %uint
             %buffer = OpVariable %to_block StorageBuffer
             %signature = OpTypeFunction %void
             %main = OpFunction %void None %signature
             %entry = OpLabel
             %place = OpAccessChain %to_uint %buffer %zero
             OpStore %place %value
             OpReturn
             OpFunctionEnd"
        )
    }

    #[test]
    fn every_run_of_the_report_is_handed_over_in_its_order() {
        for value in [1, 2] {
            let mut heard = Vec::new();
            let note = |run: &Run| (run.entry.clone(), run.input.name.clone(), run.comparison.verdict);
            let (before, after) = (storing(1), storing(value));
            let report = check_each(before, after, &Options::default(), |run| heard.push(note(run))).unwrap();
            assert!(!heard.is_empty());
            assert_eq!(heard, report.runs.iter().map(note).collect::<Vec<_>>());
            assert_eq!(report.verdict, if value == 1 { Verdict::Refines } else { Verdict::Violates });
        }
    }

    #[test]
    fn bytes_and_text_are_told_apart() {
        let options = Options::default();
        let module = Module::from_text(&storing(1), "before", &options.read).unwrap();
        let bytes: Vec<u8> = module.words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let [binary, text] = [outcomes(bytes, &options).unwrap(), outcomes(storing(1), &options).unwrap()];
        let counts = |report: &OutcomesReport| -> Vec<_> {
            report.runs.iter().map(|run| run.explored.behaviours.count()).collect()
        };
        assert_eq!(counts(&binary), counts(&text));
        assert_eq!(binary.choices.target_env, "default");
    }

    #[test]
    fn what_is_no_module_is_an_error() {
        let error = check(storing(1), [0xff, 0xfe], &Options::default()).unwrap_err();
        assert!(matches!(error, Error::Read(_)), "{error}");
        assert!(error.to_string().starts_with("after: not a SPIR-V module"), "{error}");
    }
}
