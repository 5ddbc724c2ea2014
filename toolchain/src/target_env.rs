//! Target environments, under the names that spirv-val's `--target-env` takes.

use std::fmt;
use std::str::FromStr;

/// The environment whose rules a module is assembled, validated and optimised for.
///
/// The default is spirv-val's: the newest universal one, which holds a module to the rules of the SPIR-V
/// version in its header and to those of no client interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TargetEnv {
    /// SPIR-V 1.0, without the rules of a client interface.
    Universal1_0,
    /// Vulkan 1.0, with SPIR-V 1.0.
    Vulkan1_0,
    /// SPIR-V 1.1, without the rules of a client interface.
    Universal1_1,
    /// OpenCL 2.1, full profile.
    OpenCl2_1,
    /// OpenCL 2.2, full profile.
    OpenCl2_2,
    /// OpenGL 4.0.
    OpenGl4_0,
    /// OpenGL 4.1.
    OpenGl4_1,
    /// OpenGL 4.2.
    OpenGl4_2,
    /// OpenGL 4.3.
    OpenGl4_3,
    /// OpenGL 4.5.
    OpenGl4_5,
    /// SPIR-V 1.2, without the rules of a client interface.
    Universal1_2,
    /// OpenCL 1.2, full profile.
    OpenCl1_2,
    /// OpenCL 1.2, embedded profile.
    OpenClEmbedded1_2,
    /// OpenCL 2.0, full profile.
    OpenCl2_0,
    /// OpenCL 2.0, embedded profile.
    OpenClEmbedded2_0,
    /// OpenCL 2.1, embedded profile.
    OpenClEmbedded2_1,
    /// OpenCL 2.2, embedded profile.
    OpenClEmbedded2_2,
    /// SPIR-V 1.3, without the rules of a client interface.
    Universal1_3,
    /// Vulkan 1.1, with SPIR-V 1.3.
    Vulkan1_1,
    /// SPIR-V 1.4, without the rules of a client interface.
    Universal1_4,
    /// Vulkan 1.1 with SPIR-V 1.4.
    Vulkan1_1Spirv1_4,
    /// SPIR-V 1.5, without the rules of a client interface.
    Universal1_5,
    /// Vulkan 1.2, with SPIR-V 1.5.
    Vulkan1_2,
    #[default]
    /// SPIR-V 1.6, without the rules of a client interface.
    Universal1_6,
    /// Vulkan 1.3, with SPIR-V 1.6.
    Vulkan1_3,
    /// Vulkan 1.4, with SPIR-V 1.6.
    Vulkan1_4,
}

/// Name, environment, number in the C interface (`spv_target_env`).
const ENVIRONMENTS: [(&str, TargetEnv, u32); 26] = [
    ("vulkan1.0", TargetEnv::Vulkan1_0, 1),
    ("vulkan1.1", TargetEnv::Vulkan1_1, 18),
    ("vulkan1.1spv1.4", TargetEnv::Vulkan1_1Spirv1_4, 21),
    ("vulkan1.2", TargetEnv::Vulkan1_2, 23),
    ("vulkan1.3", TargetEnv::Vulkan1_3, 25),
    ("vulkan1.4", TargetEnv::Vulkan1_4, 26),
    ("spv1.0", TargetEnv::Universal1_0, 0),
    ("spv1.1", TargetEnv::Universal1_1, 2),
    ("spv1.2", TargetEnv::Universal1_2, 10),
    ("spv1.3", TargetEnv::Universal1_3, 17),
    ("spv1.4", TargetEnv::Universal1_4, 20),
    ("spv1.5", TargetEnv::Universal1_5, 22),
    ("spv1.6", TargetEnv::Universal1_6, 24),
    ("opencl1.2", TargetEnv::OpenCl1_2, 11),
    ("opencl1.2embedded", TargetEnv::OpenClEmbedded1_2, 12),
    ("opencl2.0", TargetEnv::OpenCl2_0, 13),
    ("opencl2.0embedded", TargetEnv::OpenClEmbedded2_0, 14),
    ("opencl2.1", TargetEnv::OpenCl2_1, 3),
    ("opencl2.1embedded", TargetEnv::OpenClEmbedded2_1, 15),
    ("opencl2.2", TargetEnv::OpenCl2_2, 4),
    ("opencl2.2embedded", TargetEnv::OpenClEmbedded2_2, 16),
    ("opengl4.0", TargetEnv::OpenGl4_0, 5),
    ("opengl4.1", TargetEnv::OpenGl4_1, 6),
    ("opengl4.2", TargetEnv::OpenGl4_2, 7),
    ("opengl4.3", TargetEnv::OpenGl4_3, 8),
    ("opengl4.5", TargetEnv::OpenGl4_5, 9),
];

impl TargetEnv {
    /// Every environment, in the order in which [`UnknownTargetEnv`] lists them.
    pub fn all() -> impl Iterator<Item = TargetEnv> {
        ENVIRONMENTS.iter().map(|&(_, env, _)| env)
    }

    /// The name that `--target-env` takes.
    pub fn name(self) -> &'static str {
        self.entry().0
    }

    /// The number in the C interface.
    #[cfg(feature = "bundled")]
    pub(crate) fn raw(self) -> u32 {
        self.entry().2
    }

    fn entry(self) -> (&'static str, TargetEnv, u32) {
        // Every variant is in the table (a test says so); the fallback is the default environment.
        ENVIRONMENTS.into_iter().find(|&(_, env, _)| env == self).unwrap_or(ENVIRONMENTS[12])
    }

    /// The universal environment of the SPIR-V version that the comments at the head of an assembly
    /// text name, as the disassembler writes them (`; Version: 1.5`) and spirv-as reads them.
    pub fn from_text_header(text: &str) -> Option<TargetEnv> {
        let comments =
            text.lines().map(str::trim).take_while(|line| line.is_empty() || line.starts_with(';'));
        let version = comments.into_iter().find_map(|line| {
            line.strip_prefix(';').and_then(|comment| comment.trim_start().strip_prefix("Version:"))
        })?;
        format!("spv{}", version.trim()).parse().ok()
    }
}

impl fmt::Display for TargetEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// `--target-env` was given a name that the bundled version does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown target environment `{0}`; one of {known} is expected", known = known_names())]
pub struct UnknownTargetEnv(pub String);

fn known_names() -> String {
    ENVIRONMENTS.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ")
}

impl FromStr for TargetEnv {
    type Err = UnknownTargetEnv;

    /// Takes spirv-val's names, and `universal1.N` for `spv1.N`.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let canonical = match name.strip_prefix("universal") {
            Some(version) => format!("spv{version}"),
            None => name.to_owned(),
        };
        ENVIRONMENTS
            .iter()
            .find(|(known, ..)| *known == canonical)
            .map(|&(_, env, _)| env)
            .ok_or_else(|| UnknownTargetEnv(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(feature = "bundled")]
    extern "C" {
        fn spvParseTargetEnv(name: *const std::ffi::c_char, env: *mut u32) -> bool;
    }

    #[cfg(feature = "bundled")]
    #[test]
    fn numbers_are_those_of_the_compiled_library() {
        for (name, env, number) in ENVIRONMENTS {
            let c_name = std::ffi::CString::new(name).unwrap();
            let mut parsed = u32::MAX;
            // SAFETY: a null-terminated string and a valid place for the answer.
            assert!(unsafe { spvParseTargetEnv(c_name.as_ptr(), &mut parsed) }, "{name}");
            assert_eq!(parsed, number, "{name}");
            assert_eq!((env.name(), env.raw()), (name, number));
        }
    }

    #[test]
    fn names_parse() {
        assert_eq!("vulkan1.3".parse(), Ok(TargetEnv::Vulkan1_3));
        assert_eq!("spv1.6".parse(), Ok(TargetEnv::Universal1_6));
        assert_eq!("universal1.5".parse(), Ok(TargetEnv::Universal1_5));
        let error = "vulkan9".parse::<TargetEnv>().unwrap_err();
        assert!(error.to_string().contains("vulkan1.4"), "{error}");
    }

    #[test]
    fn version_is_read_from_leading_comments_only() {
        assert_eq!(
            TargetEnv::from_text_header("; SPIR-V\n; Version: 1.3\nOpNop"),
            Some(TargetEnv::Universal1_3)
        );
        assert_eq!(TargetEnv::from_text_header("OpNop\n; Version: 1.3\n"), None);
        assert_eq!(TargetEnv::from_text_header("; Version: 7.3\n"), None);
    }
}
