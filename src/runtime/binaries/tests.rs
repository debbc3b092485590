use std::collections::BTreeSet;
use std::sync::Barrier;

use super::*;
use crate::error::ErrorKind;

struct Room {
    cache: tempfile::TempDir,
    store: Binaries,
}

fn room() -> Room {
    let cache = tempfile::tempdir().unwrap();
    let store = Binaries::new(Some(cache.path().into()), "card");
    Room { cache, store }
}

fn binary(seed: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| ((i * 31 + seed * 97) % 251) as u8).collect()
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, |items| items.count())
}

fn aged(path: &Path, age: Duration) {
    File::options().write(true).open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
}

#[test]
fn a_binary_comes_back_as_it_was() {
    let Room { cache, store } = room();
    for (seed, bytes) in [1, 47, 48, 49, 4096, (1 << 20) + 1].into_iter().enumerate() {
        let key = format!("kernel {seed}\n../../{bytes}\0");
        assert_eq!(store.load(&key), None);
        store.save(&key, &binary(seed, bytes));
        assert_eq!(store.load(&key), Some(binary(seed, bytes)));
        store.save(&key, b"newer");
        let later = Binaries::new(Some(cache.path().into()), "card");
        assert_eq!(later.load(&key).as_deref(), Some(&b"newer"[..]));
        assert_eq!(Binaries::new(Some(cache.path().into()), "other card").load(&key), None);
    }
    assert_eq!(count(&store.folder().unwrap()), 6);
    store.discard("kernel 0\n../../1\0", "the driver failed");
    store.discard("never stored", "the driver failed");
    assert_eq!(count(&store.folder().unwrap()), 5);
}

#[test]
fn what_no_driver_should_get_is_not_stored() {
    let Room { store, .. } = room();
    store.save("empty", &[]);
    store.save("huge", &vec![0; MAX_FILE as usize]);
    assert_eq!(count(&store.folder().unwrap()), 0);
}

#[test]
fn every_damage_is_found_and_replaced() {
    let Room { store, .. } = room();
    let path = store.path("key").unwrap();
    let good = binary(3, 20);
    let whole = seal(&good, "key");
    let mut damaged: Vec<Vec<u8>> = (0..whole.len()).map(|bytes| whole[..bytes].to_vec()).collect();
    damaged.extend((0..whole.len()).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    }));
    damaged.push([&whole[..], &[0]].concat());
    damaged.push(seal(&good, "another key"));
    damaged.push(seal(&[], "key"));
    damaged.push(binary(1, 4096));
    damaged.push(good.clone());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    for bytes in damaged {
        fs::write(&path, &bytes).unwrap();
        assert_eq!(store.load("key"), None, "{bytes:?}");
        assert!(!path.exists());
        store.save("key", &good);
        assert_eq!(store.load("key").as_ref(), Some(&good));
    }
    File::create(&path).unwrap().set_len(1 << 33).unwrap();
    assert_eq!(store.load("key"), None);
    assert!(!path.exists());
}

#[test]
fn a_folder_in_the_way_is_lived_with() {
    let Room { store, .. } = room();
    fs::create_dir_all(store.path("key").unwrap().join("inner")).unwrap();
    store.save("key", b"binary");
    assert_eq!(store.load("key"), None);
    store.save("other", b"binary");
    assert_eq!(store.load("other").as_deref(), Some(&b"binary"[..]));
    assert_eq!(count(&store.folder().unwrap()), 2);
}

#[test]
fn without_a_usable_cache_nothing_happens() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, b"mine").unwrap();
    for cache in [None, Some(file.clone()), Some(PathBuf::from("/dev/null"))] {
        let store = Binaries::new(cache, "card");
        store.save("key", b"binary");
        assert_eq!(store.load("key"), None);
        store.discard("key", "the driver failed");
    }
    assert_eq!(fs::read(&file).unwrap(), b"mine");
}

#[test]
#[cfg(unix)]
fn a_read_only_cache_is_read() {
    use std::os::unix::fs::PermissionsExt;
    let Room { store, .. } = room();
    store.save("key", b"binary");
    let (folder, path) = (store.folder().unwrap(), store.path("key").unwrap());
    aged(&path, 3 * USED);
    let allow = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
    allow(0o555);
    // The superuser may write all the same.
    let writable = File::create(folder.join("probe")).is_ok();
    store.save("new", b"binary");
    assert_eq!(store.load("key").as_deref(), Some(&b"binary"[..]));
    assert_eq!(store.load("new").is_some(), writable);
    allow(0o755);
}

#[test]
fn threads_share_a_store() {
    let Room { cache, store } = room();
    let barrier = Barrier::new(8);
    std::thread::scope(|scope| {
        for t in 0..8 {
            let (barrier, store, cache) = (&barrier, &store, cache.path());
            scope.spawn(move || {
                let own = Binaries::new(Some(cache.into()), "card");
                barrier.wait();
                for round in 0..40 {
                    let key = format!("{}", (t + round) % 5);
                    // Whoever wrote last, a reader finds a whole binary.
                    own.save(&key, &binary(t, 5000 + t));
                    let found = store.load(&key).unwrap();
                    assert_eq!(found, binary(found.len() - 5000, found.len()));
                }
            });
        }
    });
    assert_eq!(count(&store.folder().unwrap()), 5);
}

#[test]
fn the_longest_unused_go_when_the_room_is_full() {
    let Room { cache, store } = room();
    let store = Binaries { max_total: 100_000, ..store };
    // Ten thousand bytes a file; a store looks at its first write.
    let bytes = 10_000 - HEADER;
    for i in 0..20 {
        let key = format!("{i}");
        store.save(&key, &binary(i, bytes));
        aged(&store.path(&key).unwrap(), Duration::from_secs(1000 - 10 * i as u64));
    }
    let foreign = store.folder().unwrap().join("notes.bin");
    fs::write(&foreign, [0; 50_000]).unwrap();
    let other = Binaries { max_total: 100_000, ..Binaries::new(Some(cache.path().into()), "other card") };
    other.save("newest", &binary(0, bytes));
    let kept: BTreeSet<usize> = (0..20).filter(|i| store.load(&format!("{i}")).is_some()).collect();
    assert_eq!(kept, (14..20).collect());
    assert!(other.load("newest").is_some() && foreign.exists());
    // Below the bound, nothing goes.
    bound(&cache.path().join(ROOM), 70_000);
    assert_eq!(count(&store.folder().unwrap()), 7);
}

#[test]
fn a_long_running_process_looks_again() {
    let Room { store, .. } = room();
    let store = Binaries { max_total: 50_000, ..store };
    for i in 0..=WRITES_PER_LOOK {
        store.save(&format!("{i}"), &binary(0, 1000));
    }
    let left = count(&store.folder().unwrap());
    assert!((30..50).contains(&left), "{left}");
}

#[test]
fn use_keeps_a_file_young() {
    let Room { store, .. } = room();
    store.save("key", b"binary");
    let path = store.path("key").unwrap();
    let age = || fs::metadata(&path).unwrap().modified().unwrap().elapsed().unwrap_or_default();
    aged(&path, USED / 2);
    store.load("key").unwrap();
    assert!(age() >= USED / 2);
    aged(&path, 2 * USED);
    store.load("key").unwrap();
    assert!(age() < USED / 2);
}

/// The file a killed process would have left.
fn leftover(store: &Binaries) -> PathBuf {
    let path = store.folder().unwrap().join(format!("{}.4294967294-0.tmp", name("half")));
    fs::write(&path, b"half").unwrap();
    path
}

#[test]
fn clearing_takes_what_is_ours_and_leaves_the_rest() {
    let Room { cache, store } = room();
    let cache = cache.path();
    assert_eq!(clear(cache, None).unwrap(), Cleared::default());
    let other = Binaries::new(Some(cache.into()), "other card");
    for store in [&store, &other] {
        store.save("a", &binary(0, 100));
        store.save("b", &binary(0, 50));
    }
    let half = leftover(&store);
    let foreign = [
        cache.join("mine.bin"),
        cache.join("kernels/mine.bin"),
        cache.join("kernels/v1/mine.bin"),
        store.folder().unwrap().join("mine.bin"),
        store.folder().unwrap().join("mine.tmp"),
        cache.join("tune").join(name("a")),
    ];
    fs::create_dir(cache.join("tune")).unwrap();
    foreign.iter().for_each(|path| fs::write(path, b"mine").unwrap());

    let card = ["card".to_string(), "no such card".to_string(), "../..".to_string()];
    let bytes = (100 + HEADER + 50 + HEADER) as u64;
    assert_eq!(clear(cache, Some(&card)).unwrap(), Cleared { files: 3, bytes: bytes + 4, left: 2 });
    assert!(store.load("a").is_none() && other.load("a").is_some() && !half.exists());
    assert_eq!(clear(cache, None).unwrap(), Cleared { files: 2, bytes, left: 3 });
    assert!(foreign.iter().all(|path| path.exists()) && !other.folder().unwrap().exists());

    foreign[1..5].iter().for_each(|path| fs::remove_file(path).unwrap());
    assert_eq!(clear(cache, None).unwrap(), Cleared::default());
    assert!(!cache.join("kernels").exists() && cache.join("tune").exists());
    store.save("a", b"again");
    assert!(store.load("a").is_some());
}

#[test]
#[cfg(unix)]
fn clearing_follows_no_link() {
    use std::os::unix::fs::symlink;
    let (outside, Room { cache, store }) = (room(), room());
    outside.store.save("a", b"binary");
    store.save("a", b"binary");
    let ours = store.folder().unwrap();
    let theirs = outside.store.path("a").unwrap();
    // A file, a folder of a device, a device asked for by name.
    symlink(&theirs, ours.join(name("link"))).unwrap();
    symlink(theirs.parent().unwrap(), cache.path().join("kernels/v1/linked")).unwrap();
    let linked = ["linked".to_string()];
    assert_eq!(clear(cache.path(), Some(&linked)).unwrap(), Cleared { left: 1, ..Cleared::default() });
    let done = clear(cache.path(), None).unwrap();
    assert_eq!((done.files, done.left), (1, 2));
    // The whole room.
    fs::remove_dir_all(cache.path().join("kernels")).unwrap();
    symlink(outside.cache.path().join("kernels"), cache.path().join("kernels")).unwrap();
    assert_eq!(clear(cache.path(), None).unwrap(), Cleared::default());
    assert!(theirs.exists());
}

#[test]
fn clearing_says_what_it_cannot_remove() {
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("x".repeat(300));
    let e = clear(&long, None).unwrap_err();
    assert!(e.kind() == ErrorKind::Io && e.to_string().contains(&"x".repeat(300)), "{e}");
}
