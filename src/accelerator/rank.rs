//! Which device is taken, given several.
//!
//! Hardware before software, discrete before integrated, then the more direct interface, then more memory, then the
//! order of the list. Software adapters are told by their reported type and, because some report a GPU, by name.

use super::record::{Class, Record};

/// Runtimes in order of preference.
pub(super) const RUNTIMES: [&str; 4] = ["cuda", "hip", "wgpu", "cpu"];
const BACKENDS: [&str; 6] = ["cuda", "rocm", "metal", "vulkan", "dx12", "cpu"];

/// Whether a device or driver name is that of a software adapter.
pub fn is_software_name(name: &str) -> bool {
    const PARTS: [&str; 7] =
        ["llvmpipe", "lavapipe", "swiftshader", "softpipe", "software rasterizer", "basic render", "swrast"];
    let name = name.to_lowercase();
    PARTS.iter().any(|part| name.contains(part))
        || name.split(|c: char| !c.is_alphanumeric()).any(|word| word == "warp")
}

fn place(list: &[&str], name: &str) -> usize {
    list.iter().position(|x| *x == name).unwrap_or(list.len())
}

/// Smaller is better.
fn order(record: &Record) -> (Class, usize, usize, u64) {
    (record.class, place(&RUNTIMES, record.runtime), place(&BACKENDS, record.backend), u64::MAX - record.mem_mb)
}

/// The best usable device among `records`, software adapters and the CPU included but last.
pub fn best_of<'a>(records: impl IntoIterator<Item = &'a Record>) -> Option<&'a Record> {
    records.into_iter().filter(|r| r.usable && r.class != Class::Neural).min_by_key(|r| order(r))
}

/// The devices that may be chosen by default, first choice first: the first runtime that has a hardware device, its
/// best device; the CPU last.
pub fn default_of(records: &[Record]) -> Vec<&Record> {
    let mut candidates: Vec<&Record> = records.iter().filter(|r| r.usable && r.auto).collect();
    candidates.sort_by_key(|r| (place(&RUNTIMES, r.runtime), order(r)));
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(runtime: &'static str, backend: &'static str, class: Class, name: &str) -> Record {
        let mut record = Record::blank(runtime, backend, backend, class);
        record.name = name.into();
        record.set_state(true);
        record
    }

    fn chosen(records: &[Record]) -> &str {
        default_of(records).first().map_or("", |r| r.name.as_str())
    }

    fn cpu() -> Record {
        device("cpu", "cpu", Class::Cpu, "cpu")
    }

    #[test]
    fn hardware_before_software_and_discrete_before_integrated() {
        let soft = || device("wgpu", "vulkan", Class::Software, "soft");
        let discrete = || device("wgpu", "vulkan", Class::Discrete, "discrete");
        let integrated = || device("wgpu", "vulkan", Class::Integrated, "integrated");
        assert_eq!(chosen(&[soft(), discrete(), cpu()]), "discrete");
        assert_eq!(chosen(&[integrated(), discrete(), cpu()]), "discrete");
        assert_eq!(chosen(&[cpu(), integrated()]), "integrated");
        assert_eq!(chosen(&[soft(), cpu()]), "cpu");
        assert_eq!(chosen(&[cpu()]), "cpu");
        assert_eq!(chosen(&[]), "");
    }

    #[test]
    fn default_takes_the_first_runtime_but_best_of_the_best_card() {
        let records = [
            device("wgpu", "vulkan", Class::Discrete, "big"),
            device("hip", "rocm", Class::Integrated, "small"),
            cpu(),
        ];
        assert_eq!(chosen(&records), "small");
        assert_eq!(best_of(&records).map(|r| r.name.as_str()), Some("big"));
    }

    #[test]
    fn ties_go_to_the_more_direct_interface_then_memory_then_list_order() {
        let mut a = device("wgpu", "dx12", Class::Discrete, "a");
        let mut b = device("wgpu", "vulkan", Class::Discrete, "b");
        assert_eq!(chosen(&[a.clone(), b.clone()]), "b");
        a.backend = "vulkan";
        assert_eq!(chosen(&[a.clone(), b.clone()]), "a");
        b.mem_mb = 1;
        assert_eq!(chosen(&[a, b]), "b");
    }

    #[test]
    fn unusable_devices_are_never_chosen() {
        let mut broken = device("cuda", "cuda", Class::Discrete, "broken");
        broken.set_state(false);
        assert_eq!(chosen(&[broken, cpu()]), "cpu");
    }

    #[test]
    fn software_names() {
        for name in [
            "llvmpipe (LLVM 15.0.7, 256 bits)",
            "Lavapipe",
            "SwiftShader Device (LLVM 10.0.0)",
            "Microsoft Basic Render Driver",
            "WARP",
            "D3D12 (WARP adapter)",
        ] {
            assert!(is_software_name(name), "{name}");
        }
        for name in [
            "NVIDIA GeForce RTX 4090",
            "NVIDIA H200",
            "Apple M3",
            "Intel(R) Arc(TM) A770",
            "Warpdrive 9000",
            "Warped Core 9",
            "AMD Radeon Graphics (RADV RAPHAEL)",
            "",
        ] {
            assert!(!is_software_name(name), "{name}");
        }
    }
}
