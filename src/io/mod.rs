//! Files: reading what operations take, writing what they give.
//!
//! A file that is damaged or means something else is a typed error that says what was found; nothing is allocated before
//! the sizes it announces have been checked against its length. Results appear under their name complete or not at all.

mod output;

pub mod npy;

pub use output::{check_output, check_text, write_outputs, write_text};
