//! Machines of the field, faked: a folder for the system, scripted probes for the device APIs.

use std::io::{Error, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use super::*;

/// A made-up machine.
struct Fake {
    dir: tempfile::TempDir,
}

impl Fake {
    fn new() -> Fake {
        Fake { dir: tempfile::tempdir().unwrap() }
    }

    fn file(self, path: &str, text: &str) -> Fake {
        let path = self.dir.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    #[cfg(unix)]
    fn link(self, path: &str, target: &str) -> Fake {
        let path = self.dir.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
        self
    }

    fn card(self, address: &str, vendor: &str, device: &str, driver: &str) -> Fake {
        let folder = format!("/sys/bus/pci/devices/{address}");
        let fake = self
            .file(&format!("{folder}/class"), "0x030000\n")
            .file(&format!("{folder}/vendor"), vendor)
            .file(&format!("{folder}/device"), device);
        match driver.is_empty() {
            true => fake,
            false => fake.link(&format!("{folder}/driver"), &format!("../../../../bus/pci/drivers/{driver}")),
        }
    }

    fn amd(self) -> Fake {
        self.card("0000:03:00.0", "0x1002", "0x744c", "amdgpu")
            .file("/sys/bus/pci/devices/0000:03:00.0/drm/renderD129/dev", "")
            .file("/sys/bus/pci/devices/0000:03:00.0/mem_info_vram_total", "25753026560\n")
    }

    fn vulkan(self) -> Fake {
        self.file("/usr/lib/libvulkan.so.1", "")
    }

    fn roots(&self) -> Roots {
        Roots::fake(self.dir.path())
    }

    fn report(&self, probes: &[Arc<dyn Probe>]) -> Report {
        Report::build(&self.roots(), probes)
    }
}

struct Listing(&'static str, Findings);

impl Probe for Listing {
    fn runtime(&self) -> &'static str {
        self.0
    }
    fn probe(&self) -> Findings {
        self.1.clone()
    }
}

fn wgpu(devices: Vec<Found>) -> Vec<Arc<dyn Probe>> {
    vec![Arc::new(Listing("wgpu", Findings { devices, trouble: None }))]
}

fn found(index: usize, class: Class, name: &str) -> Found {
    Found {
        index,
        backend: "vulkan",
        class,
        name: name.into(),
        driver: "driver 1.2".into(),
        vendor_id: 0,
        device_id: 0,
        identity: String::new(),
        mem_mb: 0,
        float64: false,
        float16: true,
        bfloat16: false,
        subgroups: Some((32, 64)),
        timestamps: true,
        limits: Limits { group_bytes: 32 << 10, ..Limits::default() },
        trouble: None,
    }
}

fn row<'a>(report: &'a Report, name: &str) -> &'a RuntimeRow {
    report.runtimes().iter().find(|r| r.name == name).unwrap()
}

fn record<'a>(report: &'a Report, runtime: &str) -> &'a Record {
    report.devices().iter().find(|r| r.runtime == runtime).unwrap()
}

/// What holds of every report.
fn check(report: &Report) {
    let names: Vec<&str> = report.runtimes().iter().map(|r| r.name).collect();
    assert_eq!(names, ["cuda", "hip", "wgpu", "cpu"]);
    for row in report.runtimes() {
        assert!(row.usable || !row.note.is_empty(), "{row:?} gives no reason");
    }
    for device in report.devices() {
        assert!(device.detected || !device.usable, "usable but not detected: {device:?}");
        assert_eq!(device.usable, device.available);
        assert!(!device.auto || (device.usable && !device.fallback), "{device:?}");
        assert!(device.usable || !device.note.is_empty(), "no reason: {device:?}");
        assert!(!device.fallback || !device.note.is_empty(), "a software adapter says what it is: {device:?}");
        assert!(!device.label.is_empty() && !device.name.is_empty());
    }
    let default = report.default_device();
    assert!(default.usable && default.auto);
    let text = report.text();
    for row in report.runtimes() {
        assert!(text.contains(&row.note));
    }
    let json = report.json(&[]);
    assert_eq!(json["devices"].as_array().unwrap().len(), report.devices().len());
    assert_eq!(json["default"]["device"], default.device.as_str());
}

#[test]
fn adapter_lists_lead_to_the_right_default() {
    let soft = || found(0, Class::Software, "llvmpipe (LLVM 15.0.7, 256 bits)");
    let lying = || found(0, Class::Discrete, "SwiftShader Device (LLVM 10.0.0)");
    let discrete = || found(1, Class::Discrete, "Radeon RX 7900 XTX");
    let integrated = || found(0, Class::Integrated, "Intel UHD 770");
    let cases = [
        (vec![soft(), discrete()], "wgpu:1"),
        (vec![integrated(), discrete()], "wgpu:1"),
        (vec![lying(), discrete()], "wgpu:1"),
        (vec![integrated()], "wgpu:0"),
        (vec![soft()], "cpu"),
        (vec![lying()], "cpu"),
        (vec![], "cpu"),
    ];
    let machine = Fake::new().vulkan();
    for (list, expected) in cases {
        let report = machine.report(&wgpu(list.clone()));
        check(&report);
        assert_eq!(report.default_device().device, expected, "{list:?}");
    }
}

#[test]
fn a_software_adapter_is_usable_but_not_by_default() {
    let report = Fake::new().vulkan().report(&wgpu(vec![found(0, Class::Software, "llvmpipe")]));
    let device = record(&report, "wgpu");
    assert!(device.usable && device.fallback && !device.auto && !device.is_gpu());
    assert_eq!((device.vendor.as_str(), device.kind), ("Mesa", "software"));
    assert!(device.note.contains("software adapter"));
    let row = row(&report, "wgpu");
    assert!(row.usable);
    assert!(row.note.contains("detected, not usable by default: software adapter"), "{}", row.note);
}

#[test]
fn a_machine_without_gpu_software_gives_one_reason_for_each_runtime() {
    let report = Fake::new().report(&wgpu(vec![]));
    check(&report);
    for (name, library) in [("cuda", "libcuda.so.1"), ("hip", "libamdhip64.so"), ("wgpu", "libvulkan.so.1")] {
        let row = row(&report, name);
        assert!(!row.usable && row.note.starts_with("not detected: "), "{row:?}");
        assert!(row.note.contains(library), "{row:?}");
    }
    assert_eq!(report.devices().len(), 1);
    assert!(row(&report, "cpu").usable && !row(&report, "cuda").compiled && row(&report, "wgpu").compiled);
}

#[test]
fn hardware_without_its_runtime_is_detected_and_says_how_to_build_it() {
    let machine = Fake::new().card("0000:01:00.0", "0x10de", "0x2684", "nvidia").file("/dev/nvidiactl", "").amd();
    let report = machine.report(&[]);
    check(&report);
    for (runtime, remedy) in
        [("cuda", "has no cuda runtime yet"), ("hip", "has no hip runtime yet"), ("wgpu", "--features wgpu")]
    {
        let device = record(&report, runtime);
        assert!(device.detected && !device.usable);
        assert!(device.note.contains(remedy), "{}", device.note);
        assert!(device.note.contains("besides, the library lib"), "{}", device.note);
        assert!(row(&report, runtime).note.starts_with("detected, not usable"));
    }
}

#[cfg(unix)]
#[test]
fn each_obstacle_has_its_own_remedy() {
    let nvidia = |driver| Fake::new().card("0000:01:00.0", "0x10de", "0x2684", driver);
    let intel = |driver| Fake::new().vulkan().card("0000:00:02.0", "0x8086", "0x4680", driver);
    let node = "/sys/bus/pci/devices/0000:00:02.0/drm/renderD128/dev";
    let cases = [
        (nvidia(""), "no driver is loaded for this NVIDIA device; install the NVIDIA driver"),
        (intel(""), "load the i915 or xe driver"),
        (nvidia("vfio-pci"), "set aside for a virtual machine"),
        (
            nvidia("nvidia").file("/.dockerenv", ""),
            "container was started without the NVIDIA device; start it with `--gpus all`",
        ),
        (nvidia("nvidia").file("/proc/1/cgroup", "0::/kubepods/x"), "--gpus all"),
        (nvidia("nvidia"), "device node /dev/nvidiactl is missing"),
        (Fake::new().amd().file("/run/.containerenv", ""), "--device /dev/kfd --device /dev/dri"),
        (intel("i915").file("/.dockerenv", ""), "start it with `--device /dev/dri"),
        (nvidia("nvidia").file("/dev/nvidiactl", ""), "libvulkan.so.1 is missing; install the Vulkan loader"),
        (
            nvidia("nvidia").vulkan().file("/dev/nvidiactl", "").file("/sys/module/nvidia/version", "390.157\n"),
            "driver 390.157 is too old; install version 470 or newer",
        ),
        (
            nvidia("nvidia").vulkan().file("/dev/nvidiactl", "").file("/sys/module/nvidia/version", "550.54.14\n"),
            "no Vulkan driver offers this device; install the driver's user-space part",
        ),
        (intel("i915").file(node, "").file("/dev/dri/renderD128", ""), "mesa-vulkan-drivers"),
    ];
    for (machine, part) in cases {
        let report = machine.report(&wgpu(vec![found(0, Class::Software, "llvmpipe")]));
        check(&report);
        let device = report.devices().iter().find(|d| d.runtime == "wgpu" && !d.usable).expect(part);
        assert!(device.note.contains(part), "expected '{part}', got '{}'", device.note);
        assert!(device.detected && !device.identity.is_empty());
        assert_eq!(report.default_device().device, "cpu");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_render_node_names_the_group() {
    let machine = Fake::new().vulkan().amd().file("/dev/dri/renderD129", "");
    let closed = |path: &Path| match path.ends_with("renderD129") {
        true => Err(Error::from(ErrorKind::PermissionDenied)),
        false => Ok(()),
    };
    let report = Report::build(&machine.roots().with_open(closed), &wgpu(vec![]));
    let note = &record(&report, "wgpu").note;
    assert!(note.contains("permission denied on /dev/dri/renderD129"), "{note}");
    assert!(note.contains("`sudo usermod -aG render $USER`, then log in again"), "{note}");
}

#[test]
fn variables_that_hide_drivers_are_named() {
    let env = |name: &str| (name == "VK_ICD_FILENAMES").then(|| "/none.json".to_owned());
    let empty = Fake::new().vulkan();
    let report = Report::build(&empty.roots().with_env(env), &wgpu(vec![]));
    assert!(row(&report, "wgpu").note.contains("unset VK_ICD_FILENAMES"), "{}", row(&report, "wgpu").note);
    let card = Fake::new().vulkan().amd().file("/dev/dri/renderD129", "");
    let report = Report::build(&card.roots().with_env(env), &wgpu(vec![]));
    assert!(record(&report, "wgpu").note.contains("VK_ICD_FILENAMES=/none.json"), "{}", record(&report, "wgpu").note);
}

#[test]
fn one_card_through_two_runtimes_shares_its_identity() {
    let machine = Fake::new().vulkan().card("0000:01:00.0", "0x10de", "0x2684", "nvidia");
    let cuda = Found { backend: "cuda", identity: "00000000:01:00.0".into(), ..found(0, Class::Discrete, "RTX 4090") };
    // Vulkan drivers without the PCI extension tell only the numbers.
    let vulkan = Found { vendor_id: 0x10de, device_id: 0x2684, ..found(0, Class::Discrete, "NVIDIA GeForce RTX 4090") };
    let probes: Vec<Arc<dyn Probe>> = vec![
        Arc::new(Listing("cuda", Findings { devices: vec![cuda], trouble: None })),
        Arc::new(Listing("wgpu", Findings { devices: vec![vulkan], trouble: None })),
    ];
    let report = machine.report(&probes);
    check(&report);
    let cards: Vec<(&str, &str)> = report
        .devices()
        .iter()
        .filter(|d| d.runtime != "cpu")
        .map(|d| (d.device.as_str(), d.identity.as_str()))
        .collect();
    assert_eq!(cards, [("cuda:0", "0000:01:00.0"), ("wgpu:0", "0000:01:00.0")]);
    assert!(report.default_device().is_cuda());
}

#[test]
fn two_equal_cards_are_two_and_take_memory_from_the_system() {
    let machine = Fake::new().vulkan().amd().card("0000:04:00.0", "0x1002", "0x744c", "amdgpu");
    let twin = |index| Found { vendor_id: 0x1002, device_id: 0x744c, ..found(index, Class::Discrete, "RX 7900 XTX") };
    let report = machine.report(&wgpu(vec![twin(0), twin(1)]));
    let cards: Vec<&Record> = report.devices().iter().filter(|d| d.runtime == "wgpu").collect();
    assert_eq!(cards.len(), 2);
    assert_eq!((cards[0].identity.as_str(), cards[1].identity.as_str()), ("0000:03:00.0", "0000:04:00.0"));
    assert_eq!((cards[0].mem_mb, cards[0].vendor.as_str()), (24560, "AMD"));
    // The same without a PCI bus to look at, as on Windows.
    let report = Report::build(&Fake::new().roots().with_os("windows", "x86_64"), &wgpu(vec![twin(0), twin(1)]));
    assert_ne!(report.devices()[0].identity, report.devices()[1].identity);
}

#[test]
fn a_driver_that_hangs_is_named_and_the_rest_stands() {
    struct Hangs;
    impl Probe for Hangs {
        fn runtime(&self) -> &'static str {
            "wgpu"
        }
        fn probe(&self) -> Findings {
            std::thread::sleep(std::time::Duration::from_secs(3600));
            Findings::default()
        }
    }
    let machine = Fake::new().vulkan().amd();
    let report = Report::build_within(&machine.roots(), &[Arc::new(Hangs)], std::time::Duration::from_millis(100));
    check(&report);
    assert!(record(&report, "wgpu").note.contains("did not answer"));
    assert!(row(&report, "wgpu").note.contains("did not answer"));
}

#[cfg(unix)]
#[test]
fn neural_engines_are_named_and_never_selected() {
    let machine = Fake::new()
        .link("/sys/class/accel/accel0/device", "../../../0000:00:0b.0")
        .link("/sys/0000:00:0b.0/driver", "../bus/pci/drivers/intel_vpu")
        .file("/sys/bus/pci/devices/0000:00:0b.0/vendor", "0x8086")
        .file("/sys/bus/pci/devices/0000:00:0b.0/device", "0x7d1d")
        .file("/sys/bus/pci/devices/0000:c5:00.1/vendor", "0x1022")
        .file("/sys/bus/pci/devices/0000:c5:00.1/device", "0x1502")
        .file("/dev/fastrpc-cdsp", "");
    let report = machine.report(&wgpu(vec![]));
    check(&report);
    let names: Vec<&str> = report.neural_engines().iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["Intel AI Boost", "AMD XDNA", "Qualcomm Hexagon"]);
    assert!(report.neural_engines().iter().all(|r| r.detected && !r.usable && !r.auto && !r.note.is_empty()));
    let mac = Report::build(&Fake::new().roots().with_os("macos", "aarch64"), &[]);
    assert_eq!(mac.neural_engines()[0].name, "Apple Neural Engine");
}

#[test]
fn virtual_and_management_displays_are_no_gpus() {
    let machine =
        Fake::new().card("0000:02:00.0", "0x1a03", "0x2000", "ast").card("0000:00:01.0", "0x1234", "0x1111", "");
    assert_eq!(machine.report(&wgpu(vec![])).devices().len(), 1);
}

#[cfg(unix)]
#[test]
fn garbage_in_the_system_is_no_danger() {
    let machine = Fake::new()
        .file("/proc/cpuinfo", "\u{0}\u{fffd}: :\n:::")
        .file("/proc/meminfo", "MemTotal: -5 kB")
        .file("/etc/ld.so.cache", "\u{0}/\u{0}")
        .file("/sys/bus/pci/devices/../x/class", "0x03")
        .card("not an address", "0x10de", "0xzz", "nvidia")
        .card("zz:zz.z", "0x10de", "0x1", "nvidia")
        .link("/sys/bus/pci/devices/0000:09:00.0", "0000:09:00.0")
        .link("/sys/class/accel/accel0", "accel0");
    check(&machine.report(&wgpu(vec![])));
    let nowhere = Roots::fake("/nonexistent/root");
    check(&Report::build(&nowhere, &[]));
}

#[test]
fn the_record_has_the_documented_fields() {
    let json = Fake::new().report(&[]).json(&[]);
    let record = json["default"].as_object().unwrap();
    for field in
        "runtime backend kind vendor device name label driver mem_mb detected usable available auto note float64 \
                  float16 bfloat16 subgroups timestamps fallback limits"
            .split_whitespace()
    {
        assert!(record.contains_key(field), "{field}");
    }
}
