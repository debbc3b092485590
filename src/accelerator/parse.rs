//! Readers of the system's text files. They take any bytes and never fail: what is not understood is left out.

use std::collections::BTreeSet;

/// A hexadecimal number with or without `0x`, as sysfs writes ids.
pub(super) fn hex(text: &str) -> Option<u32> {
    let text = text.trim();
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    // from_str_radix would take a sign.
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

/// `domain:bus:device.function` in the form of sysfs: lower case, four digits of domain. Drivers also write it without
/// a domain, or with eight digits.
pub(super) fn pci_address(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let (front, function) = text.rsplit_once('.')?;
    let parts: Vec<&str> = front.split(':').collect();
    let (domain, bus, device) = match parts[..] {
        [bus, device] => (0, hex(bus)?, hex(device)?),
        [domain, bus, device] => (hex(domain)?, hex(bus)?, hex(device)?),
        _ => return None,
    };
    let function = hex(function)?;
    (bus < 256 && device < 32 && function < 8).then(|| format!("{domain:04x}:{bus:02x}:{device:02x}.{function}"))
}

/// Whether the text of `/proc/1/cgroup` or `/proc/self/cgroup` is that of a container.
pub(super) fn is_container_cgroup(text: &str) -> bool {
    const MARKS: [&str; 7] = ["docker", "containerd", "kubepods", "libpod", "crio-", "/lxc", "podman"];
    text.lines().any(|line| MARKS.iter().any(|mark| line.contains(mark)))
}

/// Name of a group number in `/etc/group`.
pub(super) fn group_name(groups: &str, gid: u32) -> Option<&str> {
    groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(gid) && !name.is_empty()).then_some(name)
    })
}

/// Leading numbers of a version: `535.104.05` is `[535, 104, 5]`.
pub(super) fn version(text: &str) -> Vec<u32> {
    text.split(['.', '-', ' ']).map_while(|part| part.parse().ok()).collect()
}

/// `MemTotal` of `/proc/meminfo` in MiB, 0 = unknown.
pub(super) fn memory_mb(meminfo: &str) -> u64 {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    line.and_then(|rest| rest.split_whitespace().next()).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) >> 10
}

/// What `/proc/cpuinfo` tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CpuText {
    /// `GenuineIntel`; on ARM the implementer's number.
    pub vendor: String,
    /// `family-model` on x86; the part numbers of all kinds of core on ARM. Empty = unknown.
    pub model: String,
    /// Marketing name.
    pub name: String,
    /// Logical processors.
    pub processors: usize,
}

/// Reads `/proc/cpuinfo` of x86 and ARM.
pub(super) fn cpuinfo(text: &str) -> CpuText {
    let mut cpu = CpuText::default();
    let (mut family, mut model) = (None::<u32>, None::<u32>);
    let mut parts = BTreeSet::new();
    for line in text.lines() {
        let Some((field, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match field.trim() {
            "processor" => cpu.processors += 1,
            "vendor_id" | "CPU implementer" if cpu.vendor.is_empty() => cpu.vendor = value.to_owned(),
            "cpu family" if family.is_none() => family = value.parse().ok(),
            "model" if model.is_none() => model = value.parse().ok(),
            "model name" | "Hardware" if cpu.name.is_empty() => cpu.name = value.to_owned(),
            "CPU part" => parts.extend(hex(value)),
            _ => {}
        }
    }
    if let (Some(family), Some(model)) = (family, model) {
        cpu.model = format!("{family}-{model}");
    } else {
        cpu.model = parts.iter().map(|part| format!("{part:x}")).collect::<Vec<_>>().join("-");
    }
    cpu
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const XEON: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: \
                        Intel(R) Xeon(R) Platinum 8481C\n\nprocessor\t: 1\nvendor_id\t: GenuineIntel\ncpu family\t: \
                        6\nmodel\t\t: 143\n";

    #[test]
    fn cpuinfo_of_x86() {
        let cpu = cpuinfo(XEON);
        assert_eq!((cpu.vendor.as_str(), cpu.model.as_str(), cpu.processors), ("GenuineIntel", "6-143", 2));
        assert_eq!(cpu.name, "Intel(R) Xeon(R) Platinum 8481C");
    }

    #[test]
    fn cpuinfo_of_arm_names_every_kind_of_core() {
        let big_little = "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd46\nprocessor : 1\nCPU implementer : \
                          0x41\nCPU part : 0xd4d\nprocessor : 2\nCPU part : 0xd46\n";
        let cpu = cpuinfo(big_little);
        assert_eq!((cpu.vendor.as_str(), cpu.model.as_str(), cpu.processors), ("0x41", "d46-d4d", 3));
    }

    #[test]
    fn half_a_cpuinfo_is_unknown() {
        assert_eq!(cpuinfo("cpu family: 6\nmodel: many").model, "");
        assert_eq!(cpuinfo(""), CpuText::default());
    }

    #[test]
    fn pci_addresses_in_every_spelling() {
        for text in ["0000:01:00.0", "01:00.0", "00000000:01:00.0", " 0000:01:00.0\n"] {
            assert_eq!(pci_address(text).as_deref(), Some("0000:01:00.0"), "{text}");
        }
        assert_eq!(pci_address("0000:AF:1F.7").as_deref(), Some("0000:af:1f.7"));
        for text in ["", "1.2", "GPU-1234", "0000:100:00.0", "0000:01:20.0", "0000:01:00.8", "a:b:c:d.0", "-1:00.0"] {
            assert_eq!(pci_address(text), None, "{text}");
        }
    }

    #[test]
    fn cgroups_of_containers() {
        assert!(is_container_cgroup("0::/system.slice/docker-abc.scope"));
        assert!(is_container_cgroup("12:cpu:/kubepods/besteffort/pod1"));
        assert!(!is_container_cgroup("0::/user.slice/user-1000.slice\n"));
    }

    #[test]
    fn groups_versions_memory() {
        let groups = "root:x:0:\nvideo:x:44:a,b\nrender:x:109:\nbroken\n::109:";
        assert_eq!(group_name(groups, 109), Some("render"));
        assert_eq!(group_name(groups, 5), None);
        assert_eq!(version("535.104.05"), [535, 104, 5]);
        assert!(version("beta").is_empty());
        assert!(version("470.9") < version("525.60.13"));
        assert_eq!(memory_mb("Foo: 1\nMemTotal:       16384000 kB\n"), 16000);
        assert_eq!(memory_mb("MemTotal: lots"), 0);
    }

    proptest! {
        #[test]
        fn readers_take_anything(bytes in proptest::collection::vec(any::<u8>(), 0..400), gid in any::<u32>()) {
            let text = String::from_utf8_lossy(&bytes);
            let lines = format!("model : {text}\nCPU part : {text}\nMemTotal: {text}\n{text}");
            cpuinfo(&lines);
            memory_mb(&lines);
            is_container_cgroup(&lines);
            group_name(&lines, gid);
            version(&text);
            hex(&text);
            if let Some(address) = pci_address(&text) {
                prop_assert_eq!(pci_address(&address), Some(address.clone()), "canonical form is stable");
            }
        }

        #[test]
        fn ids_round_trip(id in any::<u32>(), domain in 0u32..0x10000, bus in 0u32..256, device in 0u32..32) {
            prop_assert_eq!(hex(&format!("0x{id:04x}\n")), Some(id));
            let address = format!("{domain:04x}:{bus:02x}:{device:02x}.1");
            prop_assert_eq!(pci_address(&address), Some(address.clone()));
        }
    }
}
