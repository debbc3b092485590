//! What Linux itself knows of GPUs and neural engines, without any driver's library.

use super::parse;
use super::record::{Class, Record};
use super::roots::Roots;
use super::trouble::Trouble;

/// Oldest NVIDIA driver with the Vulkan the wgpu runtime needs.
const NVIDIA_OLDEST: &str = "470";

/// Name of a PCI vendor whose devices can compute; `None` for others (management chips, virtual displays).
pub(super) fn vendor_name(id: u32) -> Option<&'static str> {
    Some(match id {
        0x10de => "NVIDIA",
        0x1002 | 0x1022 => "AMD",
        0x8086 => "Intel",
        0x106b => "Apple",
        0x5143 | 0x17cb | 0x4d4f_4351 => "Qualcomm",
        0x13b5 => "ARM",
        0x1010 => "Imagination",
        0x14e4 => "Broadcom",
        0x144d => "Samsung",
        0x1ed5 => "Moore Threads",
        _ => return None,
    })
}

/// A GPU on the PCI bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Card {
    pub address: String,
    pub vendor: &'static str,
    pub vendor_id: u32,
    pub device_id: u32,
    /// Kernel driver bound to it; empty = none.
    pub driver: String,
    pub name: String,
    pub mem_mb: u64,
    /// Its node under `/dev/dri`; empty = the driver made none.
    pub render_node: String,
}

/// GPUs on the PCI bus: VGA (0x0300), 3D (0x0302) and other display controllers (0x0380) of vendors that make GPUs.
pub(super) fn cards(roots: &Roots) -> Vec<Card> {
    const BUS: &str = "/sys/bus/pci/devices";
    let card = |name: String| {
        let folder = format!("{BUS}/{name}");
        let id = |file: &str| parse::hex(&roots.text(&format!("{folder}/{file}")));
        (id("class")? >> 16 == 0x03).then_some(())?;
        let (vendor_id, device_id) = (id("vendor")?, id("device")?);
        let vendor = vendor_name(vendor_id)?;
        let address = parse::pci_address(&name)?;
        let nodes = roots.names(&format!("{folder}/drm"));
        let node = nodes.into_iter().find(|n| n.starts_with("renderD"));
        let bytes = roots.text(&format!("{folder}/mem_info_vram_total")).parse::<u64>().unwrap_or(0);
        Some(Card {
            name: card_name(roots, &folder, &address, vendor, vendor_id, device_id),
            address,
            vendor,
            vendor_id,
            device_id,
            driver: roots.link_name(&format!("{folder}/driver")),
            mem_mb: bytes >> 20,
            render_node: node.map(|n| format!("/dev/dri/{n}")).unwrap_or_default(),
        })
    };
    roots.names(BUS).into_iter().filter_map(card).collect()
}

fn card_name(roots: &Roots, folder: &str, address: &str, vendor: &str, vendor_id: u32, device_id: u32) -> String {
    let told = roots.text(&format!("/proc/driver/nvidia/gpus/{address}/information"));
    let model = told.lines().find_map(|line| line.strip_prefix("Model:")).map(str::trim).unwrap_or_default();
    if !model.is_empty() {
        return model.to_owned();
    }
    let product = roots.text(&format!("{folder}/product_name"));
    match product.is_empty() {
        true => format!("{vendor} GPU [{vendor_id:04x}:{device_id:04x}]"),
        false => product,
    }
}

/// Whether this process runs in a container.
pub(super) fn in_container(roots: &Roots) -> bool {
    roots.exists("/.dockerenv")
        || roots.exists("/run/.containerenv")
        || ["/proc/1/cgroup", "/proc/self/cgroup"].iter().any(|f| parse::is_container_cgroup(&roots.text(f)))
}

/// The library that a runtime (`cuda`, `hip`, `wgpu`) stands on, where it is missing; Linux only, nothing is loaded.
pub fn missing_library(roots: &Roots, runtime: &str) -> Option<Trouble> {
    if roots.os() != "linux" {
        return None;
    }
    let (names, remedy): (&[&str], _) = match runtime {
        "cuda" => (&["libcuda.so.1"], "install the NVIDIA driver, or in a container start it with `--gpus all`"),
        "hip" => (
            &["libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"],
            "install ROCm's HIP runtime (Debian, Ubuntu: `sudo apt install libamdhip64-dev`)",
        ),
        "wgpu" => (
            &["libvulkan.so.1", "libvulkan.so"],
            "install the Vulkan loader and a driver (Debian, Ubuntu: `sudo apt install libvulkan1 mesa-vulkan-drivers`; \
             Fedora: `sudo dnf install vulkan-loader mesa-vulkan-drivers`)",
        ),
        _ => return None,
    };
    let present = names.iter().any(|name| roots.library(name));
    (!present).then(|| Trouble::LibraryMissing { library: names[0].into(), remedy })
}

/// The variable that limits the Vulkan loader to certain drivers, if one is set.
pub(super) fn hidden_drivers(roots: &Roots) -> Option<Trouble> {
    ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].into_iter().find_map(|variable| {
        let value = roots.env(variable).filter(|value| !value.trim().is_empty())?;
        Some(Trouble::DriversHidden { variable, value })
    })
}

/// What keeps a compiled-in runtime from a card it did not list, the first obstacle first.
pub(super) fn obstacle(roots: &Roots, card: &Card, runtime: &str) -> Trouble {
    let interface = match runtime {
        "cuda" => "CUDA",
        "hip" => "HIP",
        _ => "Vulkan",
    };
    if card.driver.is_empty() {
        return Trouble::DriverMissing { vendor: card.vendor };
    }
    if card.driver == "vfio-pci" {
        return Trouble::Said(
            "the device is set aside for a virtual machine (driver vfio-pci); unbind it there".into(),
        );
    }
    if let Some(trouble) = node_trouble(roots, card, runtime) {
        return trouble;
    }
    if let Some(trouble) = missing_library(roots, runtime) {
        return trouble;
    }
    let version = roots.text("/sys/module/nvidia/version");
    if card.driver == "nvidia" && !version.is_empty() && parse::version(&version) < parse::version(NVIDIA_OLDEST) {
        return Trouble::DriverTooOld { have: version, need: NVIDIA_OLDEST };
    }
    if let Some(trouble) = hidden_drivers(roots).filter(|_| runtime == "wgpu") {
        return trouble;
    }
    Trouble::NoInterface { vendor: card.vendor, driver: card.driver.clone(), interface }
}

/// Whether the nodes a driver is reached through are there and open to this user.
fn node_trouble(roots: &Roots, card: &Card, runtime: &str) -> Option<Trouble> {
    let mut nodes = vec![];
    match (card.driver.as_str(), runtime) {
        ("nvidia", _) => nodes.push("/dev/nvidiactl".to_owned()),
        (_, "hip") => nodes.push("/dev/kfd".to_owned()),
        _ => {}
    }
    if card.driver != "nvidia" {
        nodes.push(if card.render_node.is_empty() { "/dev/dri/renderD128".into() } else { card.render_node.clone() });
    }
    for node in nodes {
        if !roots.exists(&node) {
            return Some(match in_container(roots) {
                true => Trouble::Container { vendor: card.vendor },
                false => Trouble::Said(format!(
                    "the driver {} is bound, but the device node {node} is missing; load the driver's modules again or \
                     restart the machine",
                    card.driver
                )),
            });
        }
        if roots.open(&node).is_err_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied) {
            let group = owning_group(roots, &node);
            return Some(Trouble::Permission { path: node, group });
        }
    }
    None
}

/// The group to join for a node: the one that owns it, unless that is root's.
fn owning_group(roots: &Roots, node: &str) -> String {
    #[cfg(unix)]
    if let Ok(meta) = std::fs::metadata(roots.path(node)) {
        let gid = std::os::unix::fs::MetadataExt::gid(&meta);
        if let Some(name) = parse::group_name(&roots.text("/etc/group"), gid).filter(|name| *name != "root") {
            return name.to_owned();
        }
    }
    "render".to_owned()
}

/// Neural engines of this machine, each named once. None of them is ever selected.
pub(super) fn neural_engines(roots: &Roots) -> Vec<Record> {
    let mut found: Vec<(&str, &str, String, String)> = Vec::new();
    if roots.os() == "macos" && roots.arch() == "aarch64" {
        found.push(("Apple", "Apple Neural Engine", String::new(), String::new()));
    }
    for name in roots.names("/sys/class/accel") {
        let driver = roots.link_name(&format!("/sys/class/accel/{name}/device/driver"));
        let engine = match driver.as_str() {
            "intel_vpu" | "ivpu" => ("Intel", "Intel AI Boost"),
            "amdxdna" => ("AMD", "AMD XDNA"),
            _ => continue,
        };
        found.push((engine.0, engine.1, driver, roots.link_name(&format!("/sys/class/accel/{name}/device"))));
    }
    for name in roots.names("/sys/bus/pci/devices") {
        let id = |file: &str| parse::hex(&roots.text(&format!("/sys/bus/pci/devices/{name}/{file}")));
        let engine = match (id("vendor"), id("device")) {
            (Some(0x8086), Some(0x7d1d | 0xad1d | 0x643e | 0xb03e | 0xfd3e)) => ("Intel", "Intel AI Boost"),
            (Some(0x1022), Some(0x1502 | 0x17f0)) => ("AMD", "AMD XDNA"),
            _ => continue,
        };
        let address = parse::pci_address(&name).unwrap_or(name);
        // A driver that is bound has named it already.
        if !found.iter().any(|f| f.3 == address || (f.3.is_empty() && f.1 == engine.1)) {
            found.push((engine.0, engine.1, String::new(), address));
        }
    }
    let hexagon = |folder: &str| roots.names(folder).iter().any(|n| n.starts_with("fastrpc-"));
    if hexagon("/dev") || hexagon("/sys/class/misc") {
        found.push(("Qualcomm", "Qualcomm Hexagon", "fastrpc".into(), String::new()));
    }
    found.into_iter().map(neural_record).collect()
}

fn neural_record((vendor, name, driver, identity): (&str, &str, String, String)) -> Record {
    let mut record = Record::blank("none", "none", "neural-engine", Class::Neural);
    record.vendor = vendor.into();
    record.name = name.into();
    record.label = format!("{name} (neural engine)");
    record.driver = driver;
    record.identity = identity;
    record.detected = true;
    record.note = "a neural engine runs fixed network graphs, not signal kernels; it is named and never used".into();
    record
}
