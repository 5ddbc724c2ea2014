//! Pictures of small executions.
