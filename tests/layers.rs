//! The layers import one way, and foreign types stay in their rooms.

use std::path::{Path, PathBuf};

/// Layers from the bottom up: each may import those before it.
const LAYERS: [&str; 8] = ["error", "signal", "accelerator", "kernel", "runtime", "tune", "ops", "facade"];
/// Rooms outside the stack: what each may import.
const ROOMS: [(&str, &[&str]); 5] = [
    ("simd", &["error", "signal"]),
    ("design", &["error"]),
    ("disk", &["error"]),
    ("io", &["error", "signal", "ops"]),
    ("report", &["error", "tune"]),
];
/// Thin public re-exports of what lies above.
const FACADES: [&str; 2] = ["runtime/mod.rs", "accelerator/mod.rs"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("folder").flatten() {
        let path = entry.path();
        // Test modules may print and reach where they like.
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if matches!(name.as_str(), "tests" | "testing") || name.ends_with("_tests") {
            continue;
        }
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn imports_run_one_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut faults = Vec::new();
    for path in sources(&root) {
        let name = path.strip_prefix(&root).expect("below src").to_string_lossy().replace('\\', "/");
        let layer = name.split(['/', '.']).next().unwrap_or_default().to_string();
        let text = std::fs::read_to_string(&path).expect("source");
        for (number, line) in text.lines().enumerate().filter(|(_, l)| !l.trim_start().starts_with("//")) {
            for used in line.split("crate::").skip(1) {
                let used: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_' || *c == ':').collect();
                let target = used.split("::").next().unwrap_or_default();
                if target != layer && !allowed(&layer, &name, &used, target) {
                    faults.push(format!("{name}:{}: {layer} may not import crate::{used}", number + 1));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn allowed(layer: &str, file: &str, used: &str, target: &str) -> bool {
    if layer == "bin" || layer == "lib" || target == "error" || target.chars().next().is_none_or(char::is_uppercase) {
        return true;
    }
    if let Some((_, may)) = ROOMS.iter().find(|(room, _)| *room == layer) {
        return may.iter().any(|m| used.starts_with(m));
    }
    if target == "facade" && FACADES.contains(&file) {
        return true;
    }
    if ROOMS.iter().any(|(room, _)| *room == target) {
        return matches!(layer, "ops" | "facade")
            || (layer == "runtime" && target == "simd")
            || (matches!(layer, "runtime" | "tune") && target == "disk");
    }
    let rank = |l: &str| LAYERS.iter().position(|x| *x == l);
    matches!((rank(layer), rank(target)), (Some(a), Some(b)) if b <= a)
}

/// Tokens that may appear only below the given folders.
#[test]
fn foreign_types_stay_in_their_rooms() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let rooms: [(&str, &[&str]); 4] = [
        ("wgpu::", &["runtime/wgpu/"]),
        ("naga::", &["kernel/", "runtime/wgpu/"]),
        ("plotters::", &["report/plot/"]),
        ("println!", &["bin/"]),
    ];
    let mut faults = Vec::new();
    for path in sources(&root) {
        let name = path.strip_prefix(&root).expect("below src").to_string_lossy().replace('\\', "/");
        let text = std::fs::read_to_string(&path).expect("source");
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate().filter(|(_, l)| !l.trim_start().starts_with("//")) {
            for (token, places) in rooms {
                let own = line.contains(&format!("runtime::{token}")) || line.contains(&format!("super::{token}"));
                if line.contains(token) && !own && !places.iter().any(|p| name.starts_with(p)) {
                    faults.push(format!("{name}:{}: `{token}` belongs to {places:?}", number + 1));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
