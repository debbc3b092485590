//! What the processor is: silicon facts for the report and for the tuner's device key.

use std::fmt::Write;

use xxhash_rust::xxh3::xxh3_64;

use super::parse::{self, CpuText};
use super::record::{Class, Record};
use super::roots::Roots;

/// Facts about a processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuFacts {
    /// `GenuineIntel`, `AuthenticAMD`, `Apple`, the implementer's number on other ARM; empty = unknown.
    pub vendor: String,
    /// Family and model, or part numbers; empty = unknown.
    pub model: String,
    /// Marketing name; empty = unknown.
    pub name: String,
    /// Best instruction set this process can use.
    pub instruction_set: &'static str,
    /// Processors this process may run on.
    pub cores: usize,
    /// Memory in MiB, 0 = unknown.
    pub memory_mb: u64,
    /// Hash of facts that tell machines apart where vendor or model is unknown.
    fingerprint: u64,
}

/// The best instruction set usable here: what the processor has and the operating system saves.
pub fn instruction_set() -> &'static str {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512bw") && has!("avx512cd") && has!("avx512dq") && has!("avx512vl") {
            // Ice Lake's additions make AVX-512 the width the kernels take; without them they stay at AVX2.
            let modern = has!("avx512vbmi") && has!("avx512vbmi2") && has!("avx512ifma") && has!("avx512vnni");
            return if modern { "avx512" } else { "avx512-skylake" };
        }
        if has!("avx2") && has!("fma") {
            "avx2"
        } else if has!("avx") {
            "avx"
        } else if has!("sse4.2") {
            "sse4.2"
        } else {
            "sse2"
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        use std::arch::is_aarch64_feature_detected as has;
        if has!("sve2") {
            "neon-sve2"
        } else if has!("sve") {
            "neon-sve"
        } else {
            "neon"
        }
    }
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
    {
        "scalar"
    }
}

/// Whether the processor computes in float16 and in bfloat16 itself.
fn half_types() -> (bool, bool) {
    #[cfg(target_arch = "x86_64")]
    {
        (std::arch::is_x86_feature_detected!("avx512fp16"), std::arch::is_x86_feature_detected!("avx512bf16"))
    }
    #[cfg(target_arch = "aarch64")]
    {
        (std::arch::is_aarch64_feature_detected!("fp16"), std::arch::is_aarch64_feature_detected!("bf16"))
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        (false, false)
    }
}

/// The processor itself, for systems without `/proc/cpuinfo`.
#[cfg(target_arch = "x86_64")]
fn asked() -> CpuText {
    use std::arch::x86_64::{__cpuid, CpuidResult};
    let text = |registers: &[u32]| {
        let bytes: Vec<u8> = registers.iter().flat_map(|r| r.to_le_bytes()).filter(|b| *b != 0).collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    };
    let CpuidResult { ebx, ecx, edx, .. } = __cpuid(0);
    let signature = __cpuid(1).eax;
    let (family, model) = ((signature >> 8) & 15, (signature >> 4) & 15);
    // Vendors extend the two fields by the manuals' rule for families 6 and 15.
    let full_family = if family == 15 { family + ((signature >> 20) & 255) } else { family };
    let full_model = if matches!(family, 6 | 15) { model | ((signature >> 12) & 0xf0) } else { model };
    let mut name = String::new();
    if __cpuid(0x8000_0000).eax >= 0x8000_0004 {
        let brand = [0x8000_0002, 0x8000_0003, 0x8000_0004].map(__cpuid);
        let registers: Vec<u32> = brand.iter().flat_map(|r| [r.eax, r.ebx, r.ecx, r.edx]).collect();
        name = text(&registers);
    }
    CpuText { vendor: text(&[ebx, edx, ecx]), model: format!("{full_family}-{full_model}"), name, processors: 0 }
}

/// Apple tells only its name, and only through this tool.
#[cfg(all(target_os = "macos", target_arch = "aarch64"))]
fn asked() -> CpuText {
    let output = std::process::Command::new("/usr/sbin/sysctl").args(["-n", "machdep.cpu.brand_string"]).output();
    let name = output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).unwrap_or_default();
    CpuText { vendor: "Apple".into(), model: name.clone(), name, processors: 0 }
}

#[cfg(not(any(target_arch = "x86_64", all(target_os = "macos", target_arch = "aarch64"))))]
fn asked() -> CpuText {
    CpuText::default()
}

/// Lower case letters and digits joined by single dashes, fit for a folder's name.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(48);
    slug.trim_end_matches('-').to_owned()
}

impl CpuFacts {
    /// Reads them; what cannot be read is empty or 0.
    pub fn read(roots: &Roots) -> CpuFacts {
        let mut text = parse::cpuinfo(&roots.text("/proc/cpuinfo"));
        if roots.is_system() && (text.vendor.is_empty() || text.model.is_empty()) {
            text = CpuText { processors: text.processors, ..asked() };
        }
        let cores = match roots.is_system() {
            true => std::thread::available_parallelism().map_or(1, usize::from),
            false => text.processors.max(1),
        };
        let memory_mb = parse::memory_mb(&roots.text("/proc/meminfo"));
        let machine = roots.text("/etc/machine-id");
        let known = format!("{text:?} {memory_mb} {cores} {machine} {} {}", roots.os(), roots.arch());
        CpuFacts {
            vendor: text.vendor,
            model: text.model,
            name: text.name,
            instruction_set: instruction_set(),
            cores,
            memory_mb,
            fingerprint: xxh3_64(known.as_bytes()),
        }
    }

    /// Identity of the silicon and of what of it can be used, fit for a folder's name: `genuineintel-6-143-avx512`.
    /// Where vendor or model is unknown, `unknown-` and a hash of everything that is known, this machine's own
    /// identifier included, so that two unknown machines are not taken for the same.
    pub fn silicon(&self) -> String {
        let (vendor, model) = (slug(&self.vendor), slug(&self.model));
        match vendor.is_empty() || model.is_empty() {
            true => format!("unknown-{:016x}-{}", self.fingerprint, slug(self.instruction_set)),
            false => format!("{vendor}-{model}-{}", slug(self.instruction_set)),
        }
    }

    /// The CPU's record.
    pub(crate) fn record(&self) -> Record {
        let mut record = Record::blank("cpu", "cpu", "cpu", Class::Cpu);
        record.device = "cpu".into();
        record.vendor = match self.vendor.as_str() {
            "GenuineIntel" => "Intel".into(),
            "AuthenticAMD" => "AMD".into(),
            "0x41" => "ARM".into(),
            "0x51" => "Qualcomm".into(),
            "0x61" => "Apple".into(),
            other => other.to_owned(),
        };
        record.name =
            if self.name.is_empty() { format!("{} processor", std::env::consts::ARCH) } else { self.name.clone() };
        record.label = format!("{}, {}, {} threads", record.name, self.instruction_set, self.cores);
        if self.memory_mb > 0 {
            // A write into a String does not fail.
            let _ = write!(record.label, ", {:.1} GiB", self.memory_mb as f64 / 1024.0);
        }
        record.float64 = true;
        (record.float16, record.bfloat16) = half_types();
        record.set_state(true);
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(cpuinfo: &str, id: &str) -> CpuFacts {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [("proc/cpuinfo", cpuinfo), ("etc/machine-id", id)] {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        CpuFacts::read(&Roots::fake(dir.path()))
    }

    #[test]
    fn silicon_names_the_model_and_not_the_machine() {
        let text = "processor: 0\nvendor_id: GenuineIntel\ncpu family: 6\nmodel: 143\n";
        let facts = machine(text, "a");
        assert!(facts.silicon().starts_with("genuineintel-6-143-"), "{}", facts.silicon());
        assert_eq!(facts.silicon(), machine(text, "b").silicon());
    }

    #[test]
    fn unknown_is_marked_and_differs_between_machines() {
        let (a, b) = (machine("", "a"), machine("", "b"));
        assert!(a.silicon().starts_with("unknown-"), "{}", a.silicon());
        assert_ne!(a.silicon(), b.silicon());
        assert_eq!(a.silicon(), machine("", "a").silicon());
    }

    #[test]
    fn the_record_is_usable_whatever_is_unknown() {
        let record = machine("", "").record();
        assert!(record.detected && record.usable && record.auto && record.float64);
        assert!(!record.name.is_empty() && record.mem_mb == 0 && !record.fallback);
    }

    #[test]
    fn slugs_are_folder_names() {
        assert_eq!(slug("  Apple M2 (Max)/..\\ "), "apple-m2-max");
        assert_eq!(slug("ä\0"), "");
        assert!(slug(&"x".repeat(1000)).len() <= 48);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_processor_and_the_kernel_agree() {
        let text = parse::cpuinfo(&Roots::system().text("/proc/cpuinfo"));
        if !text.model.is_empty() {
            assert_eq!((text.vendor, text.model), (asked().vendor, asked().model));
        }
    }
}
