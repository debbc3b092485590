//! Removing what dspk wrote, and nothing else.
//!
//! Every name has to be recognised before its file goes; links are neither followed nor removed; a folder goes only when
//! nothing is left in it. What other processes remove at the same time counts as theirs.

use std::fs;
use std::io::{self, ErrorKind as Io};
use std::path::{Path, PathBuf};

use super::file_name;
use crate::error::{Error, ErrorKind, Result};

/// What a clearing did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cleared {
    /// Files removed.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files, links and folders left alone, because dspk does not recognise them or is using them.
    pub left: u64,
}

impl std::ops::AddAssign for Cleared {
    fn add_assign(&mut self, more: Cleared) {
        self.files += more.files;
        self.bytes += more.bytes;
        self.left += more.left;
    }
}

/// Clears the folders of these devices (`None` = of all) in `<cache>/<room>/<version>`: files that `ours` accepts, down to
/// `depth` folders below a device's.
pub(crate) fn clear(
    cache: &Path,
    [room, version]: [&str; 2],
    devices: Option<&[String]>,
    depth: usize,
    ours: fn(&Path) -> bool,
) -> Result<Cleared> {
    let (room, all) = (cache.join(room), cache.join(room).join(version));
    let mut done = Cleared::default();
    if kind(&room)? != Kind::Folder || kind(&all)? != Kind::Folder {
        return Ok(done);
    }
    let folders = match devices {
        Some(keys) => keys.iter().map(|key| all.join(file_name(key))).collect(),
        None => items(&all)?,
    };
    for folder in folders {
        match kind(&folder)? {
            Kind::Folder => sweep(&folder, depth, ours, &mut done)?,
            Kind::Other => done.left += 1,
            Kind::Missing => {}
        }
    }
    remove_empty(&all)?;
    remove_empty(&room)?;
    Ok(done)
}

fn sweep(folder: &Path, depth: usize, ours: fn(&Path) -> bool, done: &mut Cleared) -> Result<()> {
    for path in items(folder)? {
        let facts = match fs::symlink_metadata(&path) {
            Err(e) if e.kind() == Io::NotFound => continue,
            facts => facts.map_err(|e| failed(&path, "read", e))?,
        };
        if facts.is_dir() && depth > 0 {
            sweep(&path, depth - 1, ours, done)?;
        } else if facts.is_file() && ours(&path) {
            if removed(&path, fs::remove_file(&path))? {
                done.files += 1;
                done.bytes += facts.len();
            }
        } else {
            done.left += 1;
        }
    }
    remove_empty(folder)
}

/// What lies in a folder.
fn items(folder: &Path) -> Result<Vec<PathBuf>> {
    match fs::read_dir(folder).and_then(|items| items.map(|item| Ok(item?.path())).collect()) {
        Err(e) if e.kind() == Io::NotFound => Ok(Vec::new()),
        items => items.map_err(|e| failed(folder, "read", e)),
    }
}

fn remove_empty(folder: &Path) -> Result<()> {
    match fs::remove_dir(folder) {
        Err(e) if e.kind() == Io::DirectoryNotEmpty => Ok(()),
        done => removed(folder, done).map(drop),
    }
}

/// Whether we removed it; somebody else may have been faster.
fn removed(path: &Path, done: io::Result<()>) -> Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == Io::NotFound => Ok(false),
        Err(e) => Err(failed(path, "removed", e)),
    }
}

#[derive(PartialEq, Eq)]
enum Kind {
    Missing,
    Folder,
    /// A file, or a link: it may lead out of the cache.
    Other,
}

fn kind(path: &Path) -> Result<Kind> {
    match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_dir() => Ok(Kind::Folder),
        Ok(_) => Ok(Kind::Other),
        Err(e) if matches!(e.kind(), Io::NotFound | Io::NotADirectory) => Ok(Kind::Missing),
        Err(e) => Err(failed(path, "read", e)),
    }
}

fn failed(path: &Path, what: &str, e: io::Error) -> Error {
    let message =
        format!("clearing the cache: {} cannot be {what} ({e}); check who owns it, then clear again", path.display());
    Error::new(ErrorKind::Io, message).with_source(e)
}
