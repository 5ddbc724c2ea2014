//! Fragments run as quads: derivatives, implicit levels of detail, helper invocations, and what only a part of a quad
//! executes.

#[path = "quads/shaders.rs"]
mod shaders;
#[allow(dead_code, reason = "most of it is for tests over the corpus")]
#[path = "support/mod.rs"]
mod support;
#[path = "support/texts.rs"]
mod texts;
#[path = "quads/values.rs"]
mod values;
#[path = "quads/verdicts.rs"]
mod verdicts;
