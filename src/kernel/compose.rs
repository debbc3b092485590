//! The composer: one WGSL source and its settings become one validated [`Kernel`].
//!
//! It works on lines that remember where they came from, so every fault, naga's included, names file and line. Steps:
//! imports, settings, unrolling and folding, removal of comments, naga. Kernels are kept for the life of the process.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_128;

use super::constant::{Constants, declare, evaluate};
use super::reflect::{Fault, Reflected, reflect};
use super::unroll::{code, unroll};
use super::{Kernel, Settings, Source, registry};
use crate::error::{Error, ErrorKind, Result};

/// A line of a shader and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub text: String,
    pub file: &'static str,
    pub number: usize,
}

impl Line {
    pub fn with(&self, text: String) -> Line {
        Line { text, ..*self }
    }
}

/// An error at a line.
pub(super) fn fault(line: &Line, what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Kernel, format!("shaders/{}.wgsl:{}: {what}", line.file, line.number))
}

/// A constant that the tuner or the problem may set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tunable {
    /// Name of the constant.
    pub name: &'static str,
    /// Its value in the file.
    pub default: u32,
    /// Every legal value, in the file's order.
    pub legal: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Chooser {
    Tuner,
    Problem,
}

/// What stands before a directive's name.
const MARK: &str = "dspk:";

/// Composes a kernel, or returns the one composed before from the same settings.
///
/// Settings left out keep the default of the file. An unknown name, an illegal value and every fault of the text are
/// errors of kind [`ErrorKind::Kernel`].
pub fn compose(source: &Source, tunables: &Settings, specialisations: &Settings) -> Result<Arc<Kernel>> {
    type Key = (u128, Settings, Settings);
    static KERNELS: LazyLock<Mutex<HashMap<Key, Arc<Kernel>>>> = LazyLock::new(Default::default);
    let key = (xxh3_128(source.text.as_bytes()), tunables.clone(), specialisations.clone());
    if let Some(kernel) = KERNELS.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(kernel.clone());
    }
    let (text, reflected) = build(source, tunables, specialisations)?;
    let Reflected { group_size, group_bytes, bindings, subgroups, .. } = reflected;
    let hash = xxh3_128(text.as_bytes());
    let kernel = Arc::new(Kernel { name: source.name, text, hash, group_size, group_bytes, bindings, subgroups });
    Ok(KERNELS.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(kernel).clone())
}

/// The flattened text and what naga made of it.
pub(super) fn build(source: &Source, tunables: &Settings, specials: &Settings) -> Result<(String, Reflected)> {
    let mut lines = flatten(source)?;
    apply(source, &mut lines, Chooser::Tuner, tunables)?;
    apply(source, &mut lines, Chooser::Problem, specials)?;
    let known = constants(&lines);
    asserted(&lines, &known)?;
    widen(&mut lines, &known)?;
    let mut flat = Vec::with_capacity(lines.len());
    unroll(&lines, &known, &mut flat)?;
    flat.retain_mut(|line| {
        line.text.truncate(code(&line.text).trim_end().len());
        !line.text.is_empty()
    });
    let text = flat.iter().fold(String::new(), |text, line| text + &line.text + "\n");
    let reflected = reflect(&text).map_err(|Fault { line, message }| {
        match line.and_then(|l| flat.get((l as usize).checked_sub(1)?)) {
            Some(line) => fault(line, message),
            None => Error::new(ErrorKind::Kernel, format!("shaders/{}.wgsl: {message}", source.name)),
        }
    })?;
    Ok((text, reflected))
}

/// The tunables of a kernel and the files it imports, in order of appearance.
pub fn tunables(source: &Source) -> Result<Vec<Tunable>> {
    declared(&flatten(source)?, Chooser::Tuner)
}

/// The problem specialisations of a kernel, in order of appearance.
pub fn specialisations(source: &Source) -> Result<Vec<Tunable>> {
    declared(&flatten(source)?, Chooser::Problem)
}

/// Identity of a recipe made of these kernels: changes with any of their texts, imports included.
pub fn space_identity(sources: &[&Source]) -> u128 {
    let mut all = String::new();
    for source in sources {
        // What cannot be flattened cannot be composed either; its own text still tells it apart.
        let lines = flatten(source).unwrap_or_default();
        for text in source.text.lines().chain(lines.iter().map(|line| &line.text[..])) {
            // A directive is part of the space; other comments are not.
            let kept = if text.contains(MARK) { text } else { code(text) }.trim();
            if !kept.is_empty() {
                all.push_str(kept);
                all.push('\n');
            }
        }
        all.push('\0');
    }
    xxh3_128(all.as_bytes())
}

/// The file's lines with imports in place, every directive checked for its name.
fn flatten(source: &Source) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    let mut seen = vec![source.name];
    import(source, &mut seen, &mut lines)?;
    Ok(lines)
}

fn import(source: &Source, seen: &mut Vec<&'static str>, lines: &mut Vec<Line>) -> Result<()> {
    for (index, text) in source.text.lines().enumerate() {
        let line = Line { text: text.to_string(), file: source.name, number: index + 1 };
        match directive(&line)? {
            Some(("import", path)) => {
                let piece = path
                    .strip_suffix(".wgsl")
                    .filter(|name| name.starts_with("shared/"))
                    .and_then(|name| registry::source(name).ok())
                    .ok_or_else(|| fault(&line, format!("`{path}` is not a file of shaders/shared")))?;
                if !seen.contains(&piece.name) {
                    seen.push(piece.name);
                    import(piece, seen, lines)?;
                }
            }
            _ => lines.push(line),
        }
    }
    Ok(())
}

/// Name and argument of the directive on a line.
fn directive(line: &Line) -> Result<Option<(&str, &str)>> {
    let Some((before, found)) = line.text.split_once(MARK) else { return Ok(None) };
    let (name, argument) = found.split_once(' ').unwrap_or((found, ""));
    let argument = argument.trim();
    let alone = before.trim() == "//";
    let fits = match name {
        "import" => alone && !argument.is_empty(),
        "unroll" | "fold" => alone && argument.is_empty(),
        "tune" | "specialise" | "vector" => !alone && before.trim_end().ends_with("//") && !argument.is_empty(),
        _ => return Err(fault(line, format!("unknown directive `{MARK}{name}`"))),
    };
    if fits { Ok(Some((name, argument))) } else { Err(fault(line, format!("`{MARK}{name}` is used wrongly here"))) }
}

/// `(name, value)` of `const NAME: u32 = VALUE;` or `const NAME = VALUE;`.
fn constant(text: &str) -> Option<(&str, &str)> {
    let (name, value) = code(text).trim().strip_prefix("const ")?.strip_suffix(';')?.split_once('=')?;
    let name = name.trim();
    Some((name.strip_suffix(": u32").unwrap_or(name).trim(), value.trim()))
}

/// The setting a line declares.
fn setting(line: &Line, chooser: Chooser) -> Result<Option<(&str, u32, Vec<u32>)>> {
    let wanted = if chooser == Chooser::Tuner { "tune" } else { "specialise" };
    let Some((_, argument)) = directive(line)?.filter(|(name, _)| *name == wanted) else { return Ok(None) };
    let (name, value) =
        constant(&line.text).ok_or_else(|| fault(line, "a setting must read `const NAME: u32 = 1u; // dspk:...`"))?;
    let default: u32 = value
        .strip_suffix('u')
        .and_then(|v| v.parse().ok())
        .ok_or_else(|| fault(line, format!("`{value}` is not a plain unsigned number")))?;
    let mut legal = Vec::new();
    for part in argument.split_whitespace() {
        let (first, last) = part.split_once("..").unwrap_or((part, part));
        match (first.parse::<u32>(), last.parse::<u32>()) {
            (Ok(first), Ok(last)) if first <= last && last - first < 1024 => legal.extend(first..=last),
            _ => return Err(fault(line, format!("`{part}` is neither a number nor a range of at most 1024 values"))),
        }
    }
    if !legal.contains(&default) {
        return Err(fault(line, format!("the default {default} is not among the legal values {argument}")));
    }
    Ok(Some((name, default, legal)))
}

fn declared(lines: &[Line], chooser: Chooser) -> Result<Vec<Tunable>> {
    let mut found: Vec<Tunable> = Vec::new();
    for line in lines {
        if let Some((name, default, legal)) = setting(line, chooser)? {
            if found.iter().any(|t| t.name == name) {
                return Err(fault(line, format!("`{name}` is declared twice")));
            }
            let name = static_name(line, name)?;
            found.push(Tunable { name, default, legal });
        }
    }
    Ok(found)
}

/// The name as it stands in the registered file.
fn static_name(line: &Line, name: &str) -> Result<&'static str> {
    static NAMES: LazyLock<Mutex<HashMap<String, &'static str>>> = LazyLock::new(Default::default);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if name.len() > 32 {
        return Err(fault(line, format!("`{name}` is too long for the name of a setting")));
    }
    // Names are few and known at compile time: each is leaked once so that settings can be plain `&'static str`.
    Ok(names.entry(name.to_string()).or_insert_with(|| Box::leak(name.to_string().into_boxed_str())))
}

/// Puts the chosen values in.
fn apply(source: &Source, lines: &mut [Line], chooser: Chooser, chosen: &Settings) -> Result<()> {
    let known = declared(lines, chooser)?;
    for (name, value) in chosen {
        let place = |what: String| Error::new(ErrorKind::Kernel, format!("shaders/{}.wgsl: {what}", source.name));
        let setting = known.iter().find(|t| t.name == *name).ok_or_else(|| {
            let names: Vec<_> = known.iter().map(|t| t.name).collect();
            place(format!("there is no setting `{name}` here; there are: {}", names.join(", ")))
        })?;
        if !setting.legal.contains(value) {
            return Err(place(format!("{name} = {value} is not among the legal values {:?}", setting.legal)));
        }
    }
    for line in lines {
        let Some((name, ..)) = setting(line, chooser)? else { continue };
        if let Some(value) = chosen.get(name) {
            line.text = format!("const {name}: u32 = {value}u;");
        }
    }
    Ok(())
}

fn constants(lines: &[Line]) -> Constants {
    let mut known = Constants::new();
    for line in lines {
        if let Some((name, value)) = constant(&line.text) {
            declare(name, value, &mut known);
        }
    }
    known
}

/// Whether no `const_assert` rules these problem settings out.
#[cfg(test)]
pub(super) fn permits(source: &Source, specials: &Settings) -> Result<bool> {
    let mut lines = flatten(source)?;
    apply(source, &mut lines, Chooser::Problem, specials)?;
    Ok(asserted(&lines, &constants(&lines)).is_ok())
}

/// Checks every `const_assert` before unrolling could make much of settings that do not go together.
fn asserted(lines: &[Line], known: &Constants) -> Result<()> {
    let statement =
        |line: &Line| code(&line.text).trim().strip_prefix("const_assert ")?.strip_suffix(';').map(str::to_string);
    match lines.iter().find(|line| statement(line).is_some_and(|s| evaluate(&s, known) == Some(0))) {
        Some(line) => Err(fault(line, format!("{} does not hold for these settings", code(&line.text).trim()))),
        None => Ok(()),
    }
}

/// Gives every `alias NAME = vecN<T>; // dspk:vector WIDTH` its width.
fn widen(lines: &mut [Line], known: &Constants) -> Result<()> {
    for line in lines {
        let Some(("vector", width)) = directive(line)? else { continue };
        let parts = || {
            let (name, kind) = code(&line.text).trim().strip_prefix("alias ")?.strip_suffix(">;")?.split_once('=')?;
            Some((name.trim(), kind.trim().strip_prefix("vec")?.split_once('<')?.1))
        };
        let (name, kind) = parts().ok_or_else(|| fault(line, "a vector must read `alias NAME = vec2<f32>;`"))?;
        let text = match known.get(width) {
            Some(1) => format!("alias {name} = {kind};"),
            Some(n @ 2..=4) => format!("alias {name} = vec{n}<{kind}>;"),
            _ => return Err(fault(line, format!("`{width}` is not a constant from 1 to 4"))),
        };
        line.text = text;
    }
    Ok(())
}

#[cfg(test)]
#[path = "compose_tests.rs"]
mod tests;
