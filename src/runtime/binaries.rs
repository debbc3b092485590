//! Compiled kernels, kept on disk between processes.
//!
//! The idea: what a driver's compiler made of a kernel is a pure function of the kernel and of the compiler, so it can be
//! kept under a key that names both. One small file per kernel,
//! `<cache>/kernels/v1/<device key>/<hash of the key>.bin`, replaced whole, so that processes share the folder without
//! locks and none loses what another wrote. The runtimes decide what a binary is: a pipeline cache of Vulkan, a cubin, a
//! code object.
//!
//! **Trust.** A driver believes what it is handed, so a file is an envelope: magic, version, length, the xxh3-128 of the
//! key and that of the binary. Anything that does not fit is damage: the file is removed with one warning, and the kernel
//! is compiled afresh. Files are therefore not synced: waiting for the disk would cost more than some compilations, and a
//! torn one is found out. The hash holds off accidents, not attackers: the cache folder must be writable by trusted users
//! alone.
//!
//! **Size.** `<cache>/kernels` stays below 256 MiB: at a store's first write and then every 256th, the files longest
//! unused go. A file's time of modification is that of its last use, to within a day.
//!
//! **Nothing depends on it.** Without a cache folder, or with one that cannot be read or written, kernels are compiled as
//! if it were empty; the log says so at level `debug`. Compiled kernels change no result and no choice, so
//! `DSPK_AUTOTUNE=off`, which keeps the tuner's hands off its files, does not concern them; to have none, let
//! `DSPK_CACHE_DIR` name something that is no folder (`/dev/null`).

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use xxhash_rust::xxh3::xxh3_128;

pub use crate::disk::Cleared;
use crate::disk::{clear as disk_clear, file_name, files};
use crate::error::Result;

const ROOM: &str = "kernels";
const VERSION: &str = "v1";
/// Ending of a compiled kernel's file.
const ENDING: &str = ".bin";

/// Changes with the layout of the envelope.
const MAGIC: [u8; 8] = *b"dspkbin1";
/// Magic, length of the binary, hash of the key, hash of the binary.
const HEADER: usize = 8 + 8 + 16 + 16;

/// Largest file that is read or written.
const MAX_FILE: u64 = 64 << 20;
/// Bound on the bytes of all files together.
const MAX_TOTAL: u64 = 256 << 20;
/// Writes of one store between two looks at the total.
const WRITES_PER_LOOK: u64 = 256;
/// A used file's time is renewed when it is older than this.
const USED: Duration = Duration::from_secs(24 * 3600);

/// The compiled kernels of one device. Shared between threads; stores in other processes may use the same folder.
#[derive(Debug)]
pub struct Binaries {
    /// `<cache>/kernels`.
    room: Option<PathBuf>,
    device: String,
    max_total: u64,
    writes: AtomicU64,
}

impl Binaries {
    /// The store of a device (by its key) below a cache folder; `None` = keep nothing.
    pub fn new(cache: Option<PathBuf>, device: &str) -> Binaries {
        Binaries {
            room: cache.map(|cache| cache.join(ROOM)),
            device: file_name(device),
            max_total: MAX_TOTAL,
            writes: AtomicU64::new(0),
        }
    }

    /// The store of a device below `DSPK_CACHE_DIR`, else below the user's cache folder for `dspk`.
    pub fn standard(device: &str) -> Binaries {
        Binaries::new(crate::disk::cache_folder(), device)
    }

    fn folder(&self) -> Option<PathBuf> {
        Some(self.room.as_ref()?.join(VERSION).join(&self.device))
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.folder()?.join(name(key)))
    }

    /// The binary stored under this key, exactly as it was stored. The key is a text that names everything the binary
    /// depends on: kernel, options, backend, compiler and driver with their versions.
    pub fn load(&self, key: &str) -> Option<Vec<u8>> {
        let path = self.path(key)?;
        let reason = match files::read(&path, MAX_FILE) {
            files::Content::Missing => return None,
            files::Content::Bytes(bytes) => match open(bytes, key) {
                Ok(binary) => {
                    renew(&path);
                    return Some(binary);
                }
                Err(reason) => reason,
            },
            files::Content::Damaged(reason) | files::Content::Blocked(reason) => reason,
        };
        remove(&path, &reason);
        None
    }

    /// Stores a binary. What cannot be stored, or is empty or larger than 64 MiB, is compiled again next time.
    pub fn save(&self, key: &str, binary: &[u8]) {
        let (Some(room), Some(folder)) = (&self.room, self.folder()) else { return };
        if binary.is_empty() || (binary.len() + HEADER) as u64 > MAX_FILE {
            log::debug!("a compiled kernel of {} bytes is not stored", binary.len());
            return;
        }
        if let Err(e) = files::write_unsynced(&folder, &name(key), &seal(binary, key)) {
            log::debug!("a compiled kernel is not stored: {} cannot be written: {e}", folder.display());
            return;
        }
        if self.writes.fetch_add(1, Ordering::Relaxed).is_multiple_of(WRITES_PER_LOOK) {
            files::remove_leftovers(&folder);
            bound(room, self.max_total);
        }
    }

    /// Removes a binary that is sound but of no use, with a warning: the driver failed on it.
    pub fn discard(&self, key: &str, reason: &str) {
        if let Some(path) = self.path(key) {
            remove(&path, reason);
        }
    }
}

/// Removes the compiled kernels of these devices, by key (`None` = of all), from a cache
/// folder, and the folders that are then empty. Files that dspk did not write stay; links are neither followed nor
/// removed; a missing folder is nothing to do. Devices that are open keep what they have compiled.
///
/// # Errors
/// [`crate::ErrorKind::Io`], naming the path, where something may not be listed or removed; what went before is gone.
pub fn clear(cache: &Path, devices: Option<&[String]>) -> Result<Cleared> {
    disk_clear::clear(cache, [ROOM, VERSION], devices, 0, is_ours)
}

fn is_ours(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    is_binary(files::temporary(name).map_or(name, |(target, _)| target))
}

/// Whether a file is named as [`name`] does.
fn is_binary(name: &str) -> bool {
    let hash = name.strip_suffix(ENDING).unwrap_or_default();
    hash.len() == 32 && hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn name(key: &str) -> String {
    format!("{:032x}{ENDING}", xxh3_128(key.as_bytes()))
}

/// The bytes that stand before a binary.
fn header(binary: &[u8], key: &str) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..16].copy_from_slice(&(binary.len() as u64).to_le_bytes());
    header[16..32].copy_from_slice(&xxh3_128(key.as_bytes()).to_le_bytes());
    header[32..].copy_from_slice(&xxh3_128(binary).to_le_bytes());
    header
}

fn seal(binary: &[u8], key: &str) -> Vec<u8> {
    [&header(binary, key)[..], binary].concat()
}

/// The binary inside an envelope, or what is wrong with it.
fn open(mut bytes: Vec<u8>, key: &str) -> Result<Vec<u8>, String> {
    let Some((found, binary)) = bytes.split_first_chunk::<HEADER>() else {
        return Err(format!("it has {} bytes, too few for a compiled kernel", bytes.len()));
    };
    let wanted = header(binary, key);
    let differs = |part: std::ops::Range<usize>| found[part.clone()] != wanted[part];
    if differs(0..8) {
        return Err("it is not a compiled kernel".into());
    }
    if differs(8..16) {
        return Err(format!("its length is not what it says ({} bytes follow)", binary.len()));
    }
    if differs(16..32) {
        return Err("it belongs to another kernel".into());
    }
    if differs(32..HEADER) || binary.is_empty() {
        return Err("its checksum is wrong".into());
    }
    bytes.drain(..HEADER);
    Ok(bytes)
}

/// Takes a file out of use: the one warning about it.
fn remove(path: &Path, reason: &str) {
    let kept = match fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => format!("and cannot be removed ({e})"),
        _ => "and removed".into(),
    };
    log::warn!("compiled kernel {}: {reason}; it is ignored {kept}, and the kernel compiled afresh", path.display());
}

/// Notes that a file was used. One that cannot be changed only looks older than it is.
fn renew(path: &Path) {
    let time = fs::metadata(path).and_then(|facts| facts.modified());
    if time.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > USED)) {
        let renewed = File::options().write(true).open(path).and_then(|file| file.set_modified(SystemTime::now()));
        if let Err(e) = renewed {
            log::debug!("{} keeps its old time: {e}", path.display());
        }
    }
}

/// Removes the files longest unused, of any device and version, until a quarter of the bound is free again.
fn bound(room: &Path, max_total: u64) {
    let inside = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let folder = |item: &fs::DirEntry| item.file_type().is_ok_and(|kind| kind.is_dir());
    let mut found: Vec<(SystemTime, u64, PathBuf)> = inside(room.to_path_buf())
        .filter(folder)
        .flat_map(|version| inside(version.path()))
        .filter(folder)
        .flat_map(|device| inside(device.path()))
        .filter(|file| file.file_name().to_str().is_some_and(is_binary))
        .filter_map(|file| {
            let facts = file.metadata().ok().filter(|facts| facts.is_file())?;
            Some((facts.modified().ok()?, facts.len(), file.path()))
        })
        .collect();
    let mut total: u64 = found.iter().map(|(_, bytes, _)| bytes).sum();
    if total <= max_total {
        return;
    }
    let before = total;
    found.sort();
    for (_, bytes, path) in found {
        if total <= max_total / 4 * 3 {
            break;
        }
        // Other processes may be at the same work: one that is gone has been counted all the same.
        if fs::remove_file(&path).is_ok() || !path.exists() {
            total -= bytes;
        }
    }
    log::debug!("compiled kernels in {}: {before} bytes, now {total}", room.display());
}

#[cfg(test)]
mod tests;
