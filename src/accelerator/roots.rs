//! Everything of the system the report looks at, replaceable as a whole.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// No file of interest is longer; more is not read.
const FILE_LIMIT: u64 = 1 << 20;
/// No folder of interest has more entries; more are not looked at.
const FOLDER_LIMIT: usize = 4096;

type Lookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;
type Open = Arc<dyn Fn(&Path) -> io::Result<()> + Send + Sync>;

/// Where the report looks: file system, environment, device nodes, operating system. [`Roots::system`] is this machine;
/// [`Roots::fake`] is a folder made up for a test.
#[derive(Clone)]
pub struct Roots {
    root: PathBuf,
    env: Lookup,
    open: Open,
    os: &'static str,
    arch: &'static str,
    real: bool,
}

impl Roots {
    /// This machine.
    pub fn system() -> Roots {
        Roots {
            root: PathBuf::from("/"),
            env: Arc::new(|name| std::env::var(name).ok()),
            open: Arc::new(open_node),
            os: std::env::consts::OS,
            arch: std::env::consts::ARCH,
            real: true,
        }
    }

    /// A made-up Linux machine whose `/sys`, `/proc`, `/dev`, `/etc` and libraries lie under `root`, with an empty
    /// environment and every device node that exists open to the user.
    pub fn fake(root: impl Into<PathBuf>) -> Roots {
        Roots {
            root: root.into(),
            env: Arc::new(|_| None),
            open: Arc::new(|_| Ok(())),
            os: "linux",
            arch: "x86_64",
            real: false,
        }
    }

    /// Takes environment variables from `env`.
    pub fn with_env(mut self, env: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Roots {
        self.env = Arc::new(env);
        self
    }

    /// Asks `open` whether an existing device node may be opened for reading and writing.
    pub fn with_open(mut self, open: impl Fn(&Path) -> io::Result<()> + Send + Sync + 'static) -> Roots {
        self.open = Arc::new(open);
        self
    }

    /// Takes the machine for another system, by the names of [`std::env::consts`].
    pub fn with_os(mut self, os: &'static str, arch: &'static str) -> Roots {
        (self.os, self.arch) = (os, arch);
        self
    }

    /// Operating system, as in [`std::env::consts::OS`].
    pub fn os(&self) -> &'static str {
        self.os
    }

    /// Processor family, as in [`std::env::consts::ARCH`].
    pub fn arch(&self) -> &'static str {
        self.arch
    }

    /// Whether this is the machine the process runs on, so that the processor may be asked directly.
    pub fn is_system(&self) -> bool {
        self.real
    }

    /// An environment variable.
    pub fn env(&self, name: &str) -> Option<String> {
        (self.env)(name)
    }

    /// Where `path` (absolute) lies under the root.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Whether `path` exists.
    pub fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Raw content of a regular file, cut at a fixed length; nothing if it cannot be read.
    pub(super) fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        let path = self.path(path);
        // A pipe would block the reader for ever.
        fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let mut bytes = Vec::new();
        fs::File::open(&path).ok()?.take(FILE_LIMIT).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Text of a regular file without surrounding blanks; empty if it cannot be read.
    pub(super) fn text(&self, path: &str) -> String {
        self.bytes(path).map(|b| String::from_utf8_lossy(&b).trim().to_owned()).unwrap_or_default()
    }

    /// Names in a folder, sorted; none if it cannot be read.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(path)) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.take(FOLDER_LIMIT).flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The last part of what a symbolic link points to; empty if it is none.
    pub(super) fn link_name(&self, path: &str) -> String {
        let target = fs::read_link(self.path(path)).unwrap_or_default();
        target.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Whether the device node may be opened for reading and writing.
    pub(super) fn open(&self, path: &str) -> io::Result<()> {
        (self.open)(&self.path(path))
    }

    /// Whether the loader would find a shared library, judged from the loader's cache, `LD_LIBRARY_PATH` and the usual
    /// folders. Nothing is loaded: initialisers of a broken driver could take the process down.
    pub fn library(&self, name: &str) -> bool {
        let searched = self.env("LD_LIBRARY_PATH").unwrap_or_default();
        let folders = searched
            .split(':')
            .filter(|f| f.starts_with('/'))
            .map(str::to_owned)
            .chain(["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"].map(str::to_owned));
        let triple = format!("{}-linux-gnu", self.arch);
        let mut usual = folders.chain(["/lib", "/usr/lib"].map(|f| format!("{f}/{triple}")));
        usual.any(|folder| self.exists(&format!("{folder}/{name}"))) || self.cached_library(name)
    }

    /// `/etc/ld.so.cache` holds full paths as zero-terminated strings; its layout is not needed to find one.
    fn cached_library(&self, name: &str) -> bool {
        let Some(cache) = self.bytes("/etc/ld.so.cache") else { return false };
        cache
            .split(|b| *b == 0)
            .filter_map(|s| std::str::from_utf8(s).ok())
            .any(|s| s.starts_with('/') && s.rsplit('/').next() == Some(name) && self.exists(s))
    }
}

/// Opens a device node and closes it; a node that would block does not.
fn open_node(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC);
    }
    options.open(path).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_and_odd_files_read_as_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::fake(dir.path());
        assert_eq!(roots.text("/sys/none"), "");
        assert!(roots.names("/sys/none").is_empty());
        assert_eq!(roots.link_name("/sys/none"), "");
        fs::create_dir(dir.path().join("folder")).unwrap();
        assert_eq!(roots.text("/folder"), "");
        fs::write(dir.path().join("garbage"), [0xff, 0xfe, b'a']).unwrap();
        assert!(roots.text("/garbage").ends_with('a'));
    }

    #[cfg(unix)]
    #[test]
    fn loops_of_links_end() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("b", dir.path().join("a")).unwrap();
        std::os::unix::fs::symlink("a", dir.path().join("b")).unwrap();
        let roots = Roots::fake(dir.path());
        assert_eq!(roots.text("/a"), "");
        assert!(roots.names("/a").is_empty());
        assert!(!roots.exists("/a/b/a"));
    }

    #[test]
    fn libraries_are_found_in_folders_environment_and_cache() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["usr/lib", "opt/a", "opt/b", "etc"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        for file in ["usr/lib/libone.so.1", "opt/a/libtwo.so.1", "opt/b/libthree.so.1"] {
            fs::write(dir.path().join(file), "").unwrap();
        }
        fs::write(
            dir.path().join("etc/ld.so.cache"),
            b"glibc\0\x01libthree.so.1\0/opt/b/libthree.so.1\0/opt/b/libgone.so.1\0",
        )
        .unwrap();
        let plain = Roots::fake(dir.path());
        assert!(plain.library("libone.so.1") && plain.library("libthree.so.1"));
        assert!(!plain.library("libtwo.so.1") && !plain.library("libgone.so.1"), "listed, but the file is gone");
        let env = plain.with_env(|name| (name == "LD_LIBRARY_PATH").then(|| "/opt/a:relative".into()));
        assert!(env.library("libtwo.so.1"));
    }
}
