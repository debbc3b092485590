//! Operations across channels.

pub mod common_reference;

pub use common_reference::{CommonReference, CommonReferenceOptions, NanPolicy, Operator, common_reference};
