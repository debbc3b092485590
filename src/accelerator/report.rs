//! Laying what the device APIs list over what the system knows.

use std::sync::Arc;
use std::time::Duration;

use super::cpu::CpuFacts;
use super::parse;
use super::probe::{self, Findings, Found, PROBE_LIMIT, Probe};
use super::rank;
use super::record::{Class, Record, RuntimeRow};
use super::roots::Roots;
use super::system::{self, Card};
use super::trouble::Trouble;

/// Everything found on one machine at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    devices: Vec<Record>,
    /// The last device again, so that there always is a default.
    cpu: Record,
    neural: Vec<Record>,
    runtimes: Vec<RuntimeRow>,
}

impl Report {
    /// Looks at the machine; the probes are those of the runtimes compiled in. Takes little more than [`PROBE_LIMIT`]
    /// (or `DSPK_PROBE_SECONDS`) at worst and never fails.
    pub fn build(roots: &Roots, probes: &[Arc<dyn Probe>]) -> Report {
        let asked = roots.env("DSPK_PROBE_SECONDS").and_then(|s| s.trim().parse::<f64>().ok());
        let limit = asked.and_then(|s| Duration::try_from_secs_f64(s).ok()).unwrap_or(PROBE_LIMIT);
        // A probe that keeps the time itself gets to say so.
        Report::build_within(roots, probes, limit.saturating_add(Duration::from_secs(2)))
    }

    /// As [`Report::build`], with another limit.
    pub fn build_within(roots: &Roots, probes: &[Arc<dyn Probe>], limit: Duration) -> Report {
        let answers = probe::ask(probes, limit);
        let cards = if roots.os() == "linux" { system::cards(roots) } else { Vec::new() };
        let mut devices = Vec::new();
        let mut runtimes = Vec::new();
        for runtime in ["cuda", "hip", "wgpu"] {
            let answer = answers.iter().find(|(name, _)| *name == runtime).map(|(_, findings)| findings);
            let start = devices.len();
            if let Some(findings) = answer {
                listed(runtime, findings, &cards, &mut devices);
            }
            unlisted(roots, runtime, answer, &cards, &mut devices);
            runtimes.push(row(roots, runtime, answer, &devices[start..]));
        }
        let cpu = CpuFacts::read(roots).record();
        devices.push(cpu.clone());
        runtimes.push(RuntimeRow { name: "cpu", compiled: true, usable: true, note: String::new() });
        Report { devices, cpu, neural: system::neural_engines(roots), runtimes }
    }

    /// All devices: by runtime in order of preference, usable or not; the CPU is last.
    pub fn devices(&self) -> &[Record] {
        &self.devices
    }

    /// Neural engines, named as found and never selected.
    pub fn neural_engines(&self) -> &[Record] {
        &self.neural
    }

    /// Four rows: cuda, hip, wgpu, cpu.
    pub fn runtimes(&self) -> &[RuntimeRow] {
        &self.runtimes
    }

    /// What may be used by default, first choice first; ends with the CPU.
    pub fn candidates(&self) -> Vec<&Record> {
        rank::default_of(&self.devices)
    }

    /// What is used by default.
    pub fn default_device(&self) -> &Record {
        self.candidates().first().copied().unwrap_or(&self.cpu)
    }
}

/// Whether an API's device is this card. A match by number alone is for drivers that do not tell the address.
fn same(found: &Found, card: &Card) -> bool {
    match parse::pci_address(&found.identity) {
        Some(address) => address == card.address,
        None => found.vendor_id == card.vendor_id && found.device_id == card.device_id,
    }
}

/// Records of what an API listed.
fn listed(runtime: &'static str, findings: &Findings, cards: &[Card], devices: &mut Vec<Record>) {
    let start = devices.len();
    for found in &findings.devices {
        let mut record = from_found(runtime, found);
        // Two equal cards without addresses are told apart by their order in the list.
        let taken = |id: &str, devices: &[Record]| {
            devices[start..].iter().any(|d| d.identity == id && d.backend == found.backend)
        };
        let hardware = record.class.is_hardware_gpu();
        let card = cards.iter().find(|card| hardware && same(found, card) && !taken(&card.address, devices));
        if let Some(card) = card {
            record.identity = card.address.clone();
            record.mem_mb = if record.mem_mb == 0 { card.mem_mb } else { record.mem_mb };
        } else if record.identity.is_empty() && hardware && found.vendor_id != 0 {
            let id = |n: usize| format!("{:04x}:{:04x}#{n}", found.vendor_id, found.device_id);
            let free = (0..findings.devices.len()).find(|n| !taken(&id(*n), devices));
            record.identity = id(free.unwrap_or(0));
        }
        record.label = label(&record);
        devices.push(record);
    }
}

fn from_found(runtime: &'static str, found: &Found) -> Record {
    let software =
        found.class == Class::Software || rank::is_software_name(&found.name) || rank::is_software_name(&found.driver);
    let class = if software { Class::Software } else { found.class };
    let kind = if software { "software" } else { found.backend };
    let mut record = Record::blank(runtime, found.backend, kind, class);
    record.vendor = vendor(found, software).to_owned();
    record.device = format!("{runtime}:{}", found.index);
    record.name = found.name.clone();
    record.driver = found.driver.clone();
    record.mem_mb = found.mem_mb;
    (record.float64, record.float16, record.bfloat16) = (found.float64, found.float16, found.bfloat16);
    record.subgroups = found.subgroups;
    record.timestamps = found.timestamps;
    record.limits = found.limits;
    record.identity = parse::pci_address(&found.identity).unwrap_or_else(|| found.identity.trim().to_lowercase());
    record.set_state(found.trouble.is_none());
    record.note = match (&found.trouble, software) {
        (Some(trouble), _) => trouble.to_string(),
        (None, true) => format!(
            "software adapter: {} computes on the CPU; never chosen by default, select it with `{runtime}` or `{}`",
            found.name, record.device
        ),
        (None, false) => String::new(),
    };
    record
}

fn vendor(found: &Found, software: bool) -> &'static str {
    const BY_NAME: [(&str, &str); 9] = [
        ("nvidia", "NVIDIA"),
        ("geforce", "NVIDIA"),
        ("amd", "AMD"),
        ("radeon", "AMD"),
        ("intel", "Intel"),
        ("apple", "Apple"),
        ("adreno", "Qualcomm"),
        ("mali", "ARM"),
        ("microsoft", "Microsoft"),
    ];
    match found.vendor_id {
        0x1_0005 => return "Mesa",
        0x1ae0 => return "Google",
        0x1414 => return "Microsoft",
        _ => {}
    }
    let name = found.name.to_lowercase();
    if software && (name.contains("llvmpipe") || name.contains("lavapipe")) {
        return "Mesa";
    }
    let by_name = || BY_NAME.iter().find(|(part, _)| name.contains(part)).map(|(_, vendor)| *vendor);
    system::vendor_name(found.vendor_id).or_else(by_name).unwrap_or("unknown")
}

fn label(record: &Record) -> String {
    let class = match record.class {
        Class::Discrete => "discrete",
        Class::Integrated => "integrated",
        Class::Software => "software",
        _ => "virtual or unknown",
    };
    let memory = match record.mem_mb {
        0 => String::new(),
        mb => format!(", {:.1} GiB", mb as f64 / 1024.0),
    };
    let backend = if record.backend == "none" { "no driver" } else { record.backend };
    format!("{} ({backend}, {class}{memory})", record.name)
}

/// Records of cards the runtime should have listed and did not.
fn unlisted(
    roots: &Roots,
    runtime: &'static str,
    answer: Option<&Findings>,
    cards: &[Card],
    devices: &mut Vec<Record>,
) {
    for card in cards {
        let fits = match runtime {
            "cuda" => card.vendor == "NVIDIA",
            "hip" => card.vendor == "AMD",
            _ => true,
        };
        if !fits || devices.iter().any(|d| d.runtime == runtime && d.identity == card.address) {
            continue;
        }
        let trouble = match answer {
            None => match system::missing_library(roots, runtime) {
                None => Trouble::NotCompiled { runtime },
                Some(library) => Trouble::Said(format!("{}; besides, {library}", Trouble::NotCompiled { runtime })),
            },
            Some(Findings { trouble: Some(said), .. }) => said.clone(),
            Some(_) => system::obstacle(roots, card, runtime),
        };
        // What an integrated GPU is cannot be told from the bus; Intel's and AMD's APUs say so in their driver.
        let mut record = Record::blank(runtime, "none", "gpu", Class::Other);
        record.vendor = card.vendor.into();
        record.name = card.name.clone();
        record.driver = card.driver.clone();
        record.mem_mb = card.mem_mb;
        record.identity = card.address.clone();
        record.set_state(false);
        record.note = trouble.to_string();
        record.label = format!("{} (PCI {})", card.name, card.address);
        devices.push(record);
    }
}

/// One row of the runtime table, with one reason if the runtime is not usable (by default).
fn row(roots: &Roots, name: &'static str, answer: Option<&Findings>, devices: &[Record]) -> RuntimeRow {
    let usable = devices.iter().any(|d| d.usable);
    let note = if devices.iter().any(|d| d.auto) {
        String::new()
    } else if let Some(soft) = devices.iter().find(|d| d.usable) {
        format!("detected, not usable by default: software adapter ({})", soft.name)
    } else if let Some(first) = devices.first() {
        format!("detected, not usable: {}", first.note)
    } else {
        format!("not detected: {}", absent(roots, name, answer))
    };
    RuntimeRow { name, compiled: answer.is_some(), usable, note }
}

/// Why a runtime has no device at all.
fn absent(roots: &Roots, runtime: &'static str, answer: Option<&Findings>) -> Trouble {
    if let Some(trouble) = system::missing_library(roots, runtime) {
        return trouble;
    }
    let hidden = || system::hidden_drivers(roots).filter(|_| runtime == "wgpu");
    match answer {
        None => Trouble::NotCompiled { runtime },
        Some(findings) => findings.trouble.clone().or_else(hidden).unwrap_or(Trouble::NothingFound {
            interface: match (runtime, roots.os()) {
                ("cuda", _) => "CUDA",
                ("hip", _) => "HIP",
                (_, "macos" | "ios") => "Metal",
                (_, "windows") => "DirectX 12 or Vulkan",
                _ => "Vulkan",
            },
        }),
    }
}
