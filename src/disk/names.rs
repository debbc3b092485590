//! Folder and file names made from keys that may hold anything.

use xxhash_rust::xxh3::xxh3_64;

/// Longest part of a name that comes from the key.
const MAX_LEN: usize = 96;

/// Names with a meaning of their own, in the cache or to an operating system.
const RESERVED: [&str; 5] = ["con", "prn", "aux", "nul", "lock"];

/// A name fit for any file system. A key of at most 96 characters out of `a-z 0-9 . _ -`, not starting or ending with a
/// dot and not reserved, stands for itself; anything else is cleaned, cut and told apart by a hash of the whole key.
pub(crate) fn file_name(key: &str) -> String {
    if is_plain(key) {
        return key.to_string();
    }
    let mut cleaned: String = key.chars().take(MAX_LEN / 2).map(clean).collect();
    if cleaned.starts_with(['.', '-']) || cleaned.is_empty() {
        cleaned.insert(0, '_');
    }
    format!("{cleaned}-{:016x}", xxh3_64(key.as_bytes()))
}

fn clean(c: char) -> char {
    match c.to_ascii_lowercase() {
        c @ ('a'..='z' | '0'..='9' | '_' | '-') => c,
        _ => '_',
    }
}

fn is_plain(key: &str) -> bool {
    let legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-');
    let stem = key.split('.').next().unwrap_or_default();
    let port = |name: &str| name.len() == 4 && ["com", "lpt"].iter().any(|port| name.starts_with(port));
    !key.is_empty()
        && key.len() <= MAX_LEN
        && key.bytes().all(legal)
        && !key.starts_with(['.', '-'])
        && !key.ends_with('.')
        && !key.contains("..")
        && ![".json", ".tmp", ".damaged"].iter().any(|end| key.ends_with(end))
        && !RESERVED.contains(&stem)
        && !port(stem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_names_stand_for_themselves() {
        for name in ["sosfilt", "taps64-f32--c7-s15-a4", "wgpu-10de-2330", "cpu.x86_64"] {
            assert_eq!(file_name(name), name);
        }
    }

    #[test]
    fn hostile_names_are_cleaned_and_kept_apart() {
        let long = "x".repeat(5000);
        let hostile = [
            "",
            ".",
            "..",
            "../../etc",
            "/etc/passwd",
            "a/b",
            "a\\b",
            "A",
            "lock",
            "con.x",
            "com1",
            "a\0b",
            "device.json",
            "x.",
            &long,
        ];
        let names: std::collections::BTreeSet<String> = hostile.iter().map(|key| file_name(key)).collect();
        assert_eq!(names.len(), hostile.len());
        for name in names {
            assert!(name.len() <= 128 && !name.contains(['/', '\\', '.', '\0']), "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_key_gives_one_safe_path_component(key in ".{0,300}") {
            let name = file_name(&key);
            prop_assert!(name.len() <= 128);
            let path = std::path::Path::new(&name);
            prop_assert_eq!(path.components().count(), 1);
            prop_assert!(matches!(path.components().next(), Some(std::path::Component::Normal(_))));
            prop_assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b)));
        }
    }
}
