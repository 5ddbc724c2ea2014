//! Rewrites of modules.
