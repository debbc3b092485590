//! Writing results: each file is written beside its place under another name and moved there when it is complete, so
//! that a run that fails leaves no output and never half of one.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::npy;
use crate::error::{Error, ErrorKind, Result};
use crate::ops::command::Array;

/// What a path asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// One array.
    Npy,
    /// Several arrays in one archive, each under its key.
    Npz,
    /// A folder that gets one `.npy` for each key.
    Folder,
}

/// Checks, before anything is computed, that results could be written to `path`.
///
/// # Errors
/// A name that ends in neither `.npy` nor `.npz` nor `/` and is no folder, or that lies in a folder that does not exist.
pub fn check_output(path: &Path) -> Result<()> {
    if form_of(path)? != Form::Folder { check_parent(path) } else { Ok(()) }
}

fn check_parent(path: &Path) -> Result<()> {
    let parent = parent(path);
    if !parent.is_dir() {
        return Err(Error::invalid(format!(
            "output {}: the folder {} does not exist; create it first",
            path.display(),
            parent.display()
        )));
    }
    Ok(())
}

/// Writes named results: one array to a `.npy`, several (or, where `archive`, also one) to a `.npz` under exactly their
/// names, or to a folder (an existing one, or a path ending in `/`) as one `.npy` each.
///
/// # Errors
/// Those of [`check_output`], an ending that does not suit the number of results, and failures of writing.
pub fn write_outputs(path: &Path, outputs: &[(&str, Array)], archive: bool) -> Result<()> {
    check_output(path)?;
    let failed = |e: Error| e.context(format!("writing {}", path.display()));
    match (form_of(path)?, outputs) {
        (Form::Npy, [(_, array)]) if !archive => {
            let mut file = Pending::create(path).map_err(failed)?;
            file.write_npy(array).and_then(|()| file.finish()).map_err(failed)
        }
        (Form::Npz, several) if archive || several.len() > 1 => {
            let mut file = Pending::create(path).map_err(failed)?;
            file.write_npz(outputs).and_then(|()| file.finish()).map_err(failed)
        }
        (Form::Folder, _) => write_folder(path, outputs).map_err(failed),
        (Form::Npy | Form::Npz, _) => {
            let names: Vec<_> = outputs.iter().map(|(name, _)| *name).collect();
            let ending = if outputs.len() == 1 && !archive { ".npy" } else { ".npz" };
            Err(Error::invalid(format!(
                "output {} does not suit the result ({}); the name must end in {ending}",
                path.display(),
                names.join(", ")
            )))
        }
    }
}

/// Checks, before anything is computed, that a text could be written to `path`.
///
/// # Errors
/// A folder, or a name in one that does not exist.
pub fn check_text(path: &Path) -> Result<()> {
    if path.file_name().is_none() || path.is_dir() {
        return Err(Error::invalid(format!("output {} is a folder; name a file", path.display())));
    }
    check_parent(path)
}

/// Writes a text, which then appears under its name complete or not at all.
///
/// # Errors
/// Those of [`check_text`], and failures of writing.
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    check_text(path)?;
    let failed = |e: Error| e.context(format!("writing {}", path.display()));
    let mut file = Pending::create(path).map_err(failed)?;
    file.file.write_all(text.as_bytes()).map_err(|e| failed(e.into()))?;
    file.finish().map_err(failed)
}

/// All files are complete before the first one appears.
fn write_folder(path: &Path, outputs: &[(&str, Array)]) -> Result<()> {
    fs::create_dir_all(path)?;
    let mut files = Vec::with_capacity(outputs.len());
    for (name, array) in outputs {
        let mut file = Pending::create(&path.join(format!("{name}.npy")))?;
        file.write_npy(array)?;
        files.push(file);
    }
    files.into_iter().try_for_each(Pending::finish)
}

fn form_of(path: &Path) -> Result<Form> {
    if path.is_dir() || path.as_os_str().as_encoded_bytes().last().is_some_and(|b| std::path::is_separator(*b as char))
    {
        return Ok(Form::Folder);
    }
    match path.extension().and_then(|e| e.to_str()) {
        Some("npy") => Ok(Form::Npy),
        Some("npz") => Ok(Form::Npz),
        _ => Err(Error::invalid(format!(
            "output {} has no known ending; use .npy for one array, .npz for several, or a folder",
            path.display()
        ))),
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Links that are followed; more are a circle.
const MAX_LINKS: usize = 40;

/// Where a path leads through links, the last of which may point to nothing yet.
fn followed(path: &Path) -> Result<PathBuf> {
    let mut place = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&place) {
            Ok(target) => place = parent(&place).join(target),
            Err(_) => return Ok(place),
        }
    }
    Err(Error::invalid(format!("output {} is a circle of links; name a file", path.display())))
}

/// A file under a temporary name in its final folder; removed unless finished. What is no file (a device, a pipe) is
/// written as it is: it must not be replaced.
struct Pending {
    file: BufWriter<File>,
    /// `None` = written in place.
    temporary: Option<PathBuf>,
    path: PathBuf,
}

impl Pending {
    fn create(path: &Path) -> Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let path = &followed(path)?;
        if fs::metadata(path).is_ok_and(|facts| !facts.is_file() && !facts.is_dir()) {
            let file = BufWriter::with_capacity(1 << 16, OpenOptions::new().write(true).open(path)?);
            return Ok(Pending { file, temporary: None, path: path.clone() });
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Another process's leftovers may have the same number; a few tries get past them.
        let mut tries = 0;
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let temporary = parent(path).join(format!(".{name}.{}-{number}.tmp", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Ok(file) => {
                    let file = BufWriter::with_capacity(1 << 16, file);
                    return Ok(Pending { file, temporary: Some(temporary), path: path.clone() });
                }
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists && tries < 100 => tries += 1,
                Err(e) => return Err(e.into()),
            }
        }
    }

    fn write_npy(&mut self, array: &Array) -> Result<()> {
        Ok(npy::write(array, &mut self.file)?)
    }

    fn write_npz(&mut self, outputs: &[(&str, Array)]) -> Result<()> {
        let failed = |e: zip::result::ZipError| Error::new(ErrorKind::Io, e.to_string()).with_source(e);
        let mut archive = ZipWriter::new(&mut self.file);
        for (name, array) in outputs {
            // Stored, as numpy.savez does. Sizes from 4 GiB on need the wide form of the format.
            let large = array.bytes() as u64 + 4096 > u64::from(u32::MAX);
            let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(large);
            archive.start_file(format!("{name}.npy"), options).map_err(failed)?;
            npy::write(array, &mut archive)?;
        }
        archive.finish().map_err(failed)?;
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        self.file.flush()?;
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path)?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary
            && let Err(e) = fs::remove_file(temporary)
        {
            log::warn!("the unfinished file {} could not be removed: {e}", temporary.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::command::NdArray;

    /// A link stays a link, and what is no file is written, never replaced.
    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_devices_stay() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink("target.txt", at("link.txt")).unwrap();
        for text in ["one", "two"] {
            write_text(&at("link.txt"), text).unwrap();
            assert_eq!(fs::read_to_string(at("target.txt")).unwrap(), text);
            assert!(fs::symlink_metadata(at("link.txt")).unwrap().is_symlink());
        }
        symlink("circle", at("circle")).unwrap();
        assert!(write_text(&at("circle"), "x").unwrap_err().to_string().contains("circle of links"));
        symlink("/dev/null", at("nothing")).unwrap();
        write_text(&at("nothing"), "x").unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    }

    fn one() -> Array {
        Array::F64(NdArray::flat(vec![1.0, 2.0]))
    }

    fn two() -> Array {
        Array::F32(NdArray::new(vec![1, 1], vec![3.0]).unwrap())
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn one_array_is_npy_and_replaces_what_was_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("y.npy");
        fs::write(&path, "old").unwrap();
        write_outputs(&path, &[("y", one())], false).unwrap();
        assert_eq!(npy::read(&path).unwrap(), one());
        assert_eq!(names(dir.path()), ["y.npy"]);
    }

    #[test]
    fn several_arrays_are_npz_under_exactly_their_names() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.npz");
        write_outputs(&path, &[("y", one()), ("zf", two())], false).unwrap();
        let mut archive = zip::ZipArchive::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(archive.file_names().map(|n| n.unwrap().into_owned()).collect::<Vec<_>>(), ["y.npy", "zf.npy"]);
        let unpacked = dir.path().join("zf.npy");
        std::io::copy(&mut archive.by_name("zf.npy").unwrap(), &mut File::create(&unpacked).unwrap()).unwrap();
        assert_eq!(npy::read(&unpacked).unwrap(), two());
    }

    #[test]
    fn a_folder_gets_a_file_for_each_name() {
        let dir = tempfile::tempdir().unwrap();
        write_outputs(dir.path(), &[("y", one()), ("zf", two())], false).unwrap();
        assert_eq!(names(dir.path()), ["y.npy", "zf.npy"]);
        let new = dir.path().join("new/");
        write_outputs(&new, &[("y", two())], false).unwrap();
        assert_eq!(npy::read(&new.join("y.npy")).unwrap(), two());
    }

    #[test]
    fn a_name_that_does_not_suit_is_refused_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let message = |name: &str, outputs: &[(&str, Array)]| {
            let e = write_outputs(&dir.path().join(name), outputs, false).unwrap_err();
            assert!(e.kind().is_usage(), "{e:?}");
            e.to_string()
        };
        assert!(message("y.npz", &[("y", one())]).contains("must end in .npy"));
        assert!(message("y.npy", &[("y", one()), ("zf", two())]).contains("must end in .npz"));
        let e = write_outputs(&dir.path().join("y.npy"), &[("y", one())], true).unwrap_err();
        assert!(e.to_string().contains("must end in .npz"), "{e}");
        assert!(message("y.txt", &[("y", one())]).contains("no known ending"));
        assert!(message("absent/y.npy", &[("y", one())]).contains("does not exist"));
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn a_text_replaces_what_was_there_and_a_folder_is_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report.html");
        write_text(&path, "old").unwrap();
        write_text(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert!(write_text(dir.path(), "x").unwrap_err().kind().is_usage());
        assert!(write_text(&dir.path().join("absent/x"), "x").unwrap_err().to_string().contains("does not exist"));
        assert_eq!(names(dir.path()), ["report.html"]);
    }

    #[test]
    fn an_unfinished_file_disappears() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = Pending::create(&dir.path().join("y.npy")).unwrap();
        file.write_npy(&one()).unwrap();
        assert_eq!(names(dir.path()).len(), 1);
        drop(file);
        assert!(names(dir.path()).is_empty());
    }
}
