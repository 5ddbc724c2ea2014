//! The branches of the search: which choices an invocation has where it stands, and which of them can lead anywhere.

pub(crate) mod barriers;
pub(crate) mod completion;
pub(crate) mod load_buffering;
pub(crate) mod outlook;
pub(crate) mod promises;
pub(crate) mod quiescence;
pub(crate) mod reads;
pub(crate) mod spinning;
pub(crate) mod subgroups;
pub(crate) mod waiting;
pub(crate) mod writers;
