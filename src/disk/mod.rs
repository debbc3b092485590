//! The cache folder and what lives in it: small files that are written whole or not at all, and names for them.
//!
//! The tuner's results and compiled kernels both live below [`cache_folder`]. A file is written beside its place and
//! renamed, so that processes share the folder without locks and a killed one leaves at most a temporary file, which the
//! next removes. `clear` takes away what dspk wrote, and nothing else.

pub(crate) mod clear;
pub(crate) mod files;
mod names;

use std::path::PathBuf;

pub use clear::Cleared;
pub(crate) use names::file_name;

/// Name of the environment variable that moves the cache.
pub const CACHE_VARIABLE: &str = "DSPK_CACHE_DIR";

/// `DSPK_CACHE_DIR`, else the user's cache folder for `dspk`; `None` if the system names none.
pub fn cache_folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os(CACHE_VARIABLE).filter(|folder| !folder.is_empty()) {
        return Some(PathBuf::from(folder));
    }
    directories::ProjectDirs::from("", "", "dspk").map(|dirs| dirs.cache_dir().to_path_buf())
}
