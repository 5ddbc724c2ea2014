//! Which failure a case shows: `BY/KIND/WHAT/STORAGE`, as in docs/gate.md, "Buckets".

use std::fmt;

/// What the second part of a bucket begins with.
const KINDS: [&str; 14] = [
    "new-race",
    "new-undefined",
    "new-outcome",
    "new-hang",
    "volatile-trace",
    "OptimizerCrash",
    "InvalidAfter",
    "crashed",
    "timed-out",
    "device-lost",
    "out-of-memory",
    "failed",
    "invalid-answer",
    "frozen",
];

/// Which failure it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bucket {
    /// What made it: a pass, `optimizer`, `pair`, or what ran the module. The options say it, so that it is not compared.
    by: String,
    /// The kind, and what tells failures of this kind apart.
    what: String,
}

impl Bucket {
    pub(super) fn new(by: &str, what: impl Into<String>) -> Self {
        Bucket { by: by.to_owned(), what: what.into() }
    }

    /// What is wanted, as the user writes it: with or without what made it, and with or without the last parts.
    ///
    /// # Errors
    /// There is no kind of failure in it.
    pub(super) fn wanted(text: &str) -> Result<Wanted, String> {
        let is_kind = |part: &str| KINDS.iter().any(|kind| part.starts_with(kind));
        let parts: Vec<&str> = text.split('/').collect();
        let at = parts.iter().position(|part| is_kind(part));
        let at = at.ok_or_else(|| {
            format!("'{text}' is no bucket: no part of it begins with any of {}", KINDS.join(", "))
        })?;
        Ok(Wanted(parts.get(at..).unwrap_or_default().join("/")))
    }

    /// Exactly this one.
    pub(super) fn itself(&self) -> Wanted {
        Wanted(self.what.clone())
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.by, self.what)
    }
}

/// Buckets that are wanted: one, or all that begin with the same parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted(String);

impl Wanted {
    pub(super) fn has(&self, bucket: &Bucket) -> bool {
        let rest = bucket.what.strip_prefix(&self.0);
        // `new-undefined` has several kinds.
        rest.is_some_and(|rest| {
            rest.is_empty() || rest.starts_with('/') || (!self.0.contains('/') && rest.starts_with('-'))
        })
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_wanted_by_its_first_parts() {
        let bucket = Bucket::new("pair", "new-race/lost-OpStore/workgroup");
        for wanted in
            ["new-race", "new-race/lost-OpStore", "pair/new-race/lost-OpStore/workgroup", "--ccp/new-race"]
        {
            assert!(Bucket::wanted(wanted).unwrap().has(&bucket), "{wanted}");
        }
        for other in ["new-outcome", "new-race/lost-Op", "new-race/lost-OpStore/buffer"] {
            assert!(!Bucket::wanted(other).unwrap().has(&bucket), "{other}");
        }
        let undefined = Bucket::new("optimizer", "new-undefined-aliasing/OpLoad");
        assert!(Bucket::wanted("new-undefined").unwrap().has(&undefined));
        assert!(bucket.itself().has(&bucket));
        assert!(Bucket::wanted("nonsense/OpLoad").is_err());
    }
}
