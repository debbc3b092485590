//! Choosing on scripted machines, and the environment on this one.

use std::sync::Barrier;
use std::sync::atomic::AtomicUsize;

use super::super::gpu::{Command, DeviceBuffer, DeviceClass, Facts, Limits};
use super::*;
use crate::accelerator::{Class, Findings, Found, Probe, Roots};
use crate::kernel::Kernel;

/// A device that only exists.
struct Dummy {
    facts: Facts,
    lost: Arc<AtomicBool>,
}

fn refused<T>() -> Result<T> {
    Err(Error::new(ErrorKind::Unsupported, "this device only exists"))
}

impl Gpu for Dummy {
    fn facts(&self) -> &Facts {
        &self.facts
    }
    fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }
    fn allocate(&self, _: u64) -> Result<DeviceBuffer> {
        refused()
    }
    fn constant(&self, _: &[u8]) -> Result<DeviceBuffer> {
        refused()
    }
    fn write(&self, _: &DeviceBuffer, _: u64, _: u64, _: &mut dyn FnMut(u64, &mut [u8])) -> Result<()> {
        refused()
    }
    fn read(&self, _: &DeviceBuffer, _: u64, _: u64, _: &mut dyn FnMut(u64, &[u8])) -> Result<()> {
        refused()
    }
    fn prepare(&self, _: &Arc<Kernel>) -> Result<()> {
        refused()
    }
    fn submit(&self, _: &[Command]) -> Result<()> {
        refused()
    }
    fn wait(&self) -> Result<()> {
        refused()
    }
    fn time(&self, _: &[Command], _: u32) -> Result<f64> {
        refused()
    }
}

struct Listed(Vec<Found>);

impl Probe for Listed {
    fn runtime(&self) -> &'static str {
        "wgpu"
    }
    fn probe(&self) -> Findings {
        Findings { devices: self.0.clone(), trouble: None }
    }
}

/// A machine without any driver library, with these adapters.
struct Script {
    adapters: Mutex<Vec<Found>>,
    kept: Mutex<Option<Arc<Report>>>,
    environment: Mutex<Option<String>>,
    broken: Mutex<Vec<String>>,
    opened: AtomicUsize,
    looked: AtomicUsize,
    lost: Arc<AtomicBool>,
}

impl Machine for Script {
    fn compiled(&self) -> &'static [&'static str] {
        &["wgpu", "cpu"]
    }
    fn environment(&self) -> Option<String> {
        lock(&self.environment).clone()
    }
    fn report(&self, refresh: bool) -> Arc<Report> {
        let mut kept = lock(&self.kept);
        if let Some(report) = kept.as_ref().filter(|_| !refresh) {
            return report.clone();
        }
        self.looked.fetch_add(1, Ordering::Relaxed);
        let probe: Arc<dyn Probe> = Arc::new(Listed(lock(&self.adapters).clone()));
        let report = Arc::new(Report::build(&Roots::fake("/nonexistent"), &[probe]));
        *kept = Some(report.clone());
        report
    }
    fn missing_library(&self, runtime: &str) -> Option<String> {
        crate::accelerator::missing_library(&Roots::fake("/nonexistent"), runtime).map(|t| t.to_string())
    }
    fn open(&self, device: &Record) -> Result<Target> {
        if lock(&self.broken).contains(&device.device) {
            return Err(Error::new(ErrorKind::Unavailable, "the driver does not open it"));
        }
        let count = self.opened.fetch_add(1, Ordering::Relaxed);
        let limits = Limits {
            binding_bytes: 0,
            buffer_bytes: 0,
            uniform_bytes: 0,
            groups_per_dimension: 0,
            group_size: 0,
            group_bytes: 0,
            storage_alignment: 0,
        };
        let facts = Facts {
            key: format!("{}-{count}", device.device),
            runtime: "wgpu",
            vendor: String::new(),
            name: device.name.clone(),
            driver: String::new(),
            class: DeviceClass::Other,
            limits,
            subgroups: None,
            timestamps: false,
            float16: false,
            float64: false,
            compensation: false,
        };
        self.lost.store(false, Ordering::Relaxed);
        Ok(Target::Gpu(Arc::new(Dummy { facts, lost: self.lost.clone() })))
    }
}

fn adapter(index: usize, class: Class, name: &str) -> Found {
    Found {
        index,
        backend: "vulkan",
        class,
        name: name.into(),
        driver: String::new(),
        vendor_id: 0x1002,
        device_id: index as u32,
        identity: format!("UUID-{index}"),
        mem_mb: 0,
        float64: false,
        float16: false,
        bfloat16: false,
        subgroups: None,
        timestamps: false,
        limits: Default::default(),
        trouble: None,
    }
}

fn machine(adapters: Vec<Found>) -> Resolver<Script> {
    Resolver::new(Script {
        adapters: Mutex::new(adapters),
        kept: Mutex::default(),
        environment: Mutex::default(),
        broken: Mutex::default(),
        opened: AtomicUsize::new(0),
        looked: AtomicUsize::new(0),
        lost: Arc::default(),
    })
}

fn three() -> Resolver<Script> {
    machine(vec![
        adapter(0, Class::Software, "llvmpipe (LLVM 15)"),
        adapter(1, Class::Integrated, "Radeon Graphics"),
        adapter(2, Class::Discrete, "Radeon RX 7900 XTX"),
    ])
}

fn place(resolver: &Resolver<Script>, argument: Option<&str>) -> String {
    resolver.resolve(argument).map_or_else(|e| format!("{:?}", e.kind()), |r| r.record.device.clone())
}

#[test]
fn names_lead_to_devices() {
    let resolver = three();
    for (name, device) in [
        ("auto", "wgpu:2"),
        ("", "wgpu:2"),
        ("gpu", "wgpu:2"),
        ("WGPU ", "wgpu:2"),
        ("vulkan", "wgpu:2"),
        ("wgpu:0", "wgpu:0"),
        ("wgpu:llvm", "wgpu:0"),
        ("wgpu:radeon", "wgpu:2"),
        ("wgpu:Radeon Graphics", "wgpu:1"),
        ("wgpu:uuid-1", "wgpu:1"),
        ("cpu", "cpu"),
        ("metal", "Unavailable"),
        ("wgpu:7", "Unavailable"),
        ("wgpu:geforce", "Unavailable"),
        ("cuda", "NotCompiled"),
        ("rocm:1", "NotCompiled"),
        ("opencl", "UnknownRuntime"),
    ] {
        assert_eq!(place(&resolver, Some(name)), device, "{name}");
    }
    let e = resolver.resolve(Some("wgpu:7")).unwrap_err().to_string();
    assert!(e.contains("wgpu:1 = Radeon Graphics (vulkan)"), "{e}");
}

#[test]
fn argument_then_set_then_environment_then_default() {
    let resolver = three();
    assert_eq!(place(&resolver, None), "wgpu:2");
    *lock(&resolver.machine.environment) = Some(" wgpu:1 ".into());
    assert_eq!(place(&resolver, None), "wgpu:1", "the environment is read each time");
    resolver.set(Some("wgpu:0")).unwrap();
    assert_eq!(place(&resolver, None), "wgpu:0");
    assert_eq!(place(&resolver, Some("cpu")), "cpu");
    resolver.set(Some("auto")).unwrap();
    assert_eq!(place(&resolver, None), "wgpu:2", "auto is a choice, above the environment");
    resolver.set(None).unwrap();
    assert_eq!(place(&resolver, None), "wgpu:1");
    *lock(&resolver.machine.environment) = Some(String::new());
    assert_eq!(place(&resolver, None), "wgpu:2");
    *lock(&resolver.machine.environment) = Some("cuda".into());
    let e = resolver.resolve(None).unwrap_err();
    assert!(e.to_string().starts_with("DSPK_RUNTIME=cuda: "), "{e}");
}

#[cfg(feature = "gpu")]
#[test]
fn only_what_nobody_named_is_the_default() {
    let resolver = three();
    assert!(resolver.is_default(None) && resolver.is_default(Some("auto")) && resolver.is_default(Some(" ")));
    assert!(!resolver.is_default(Some("gpu")) && !resolver.is_default(Some("wgpu:0")));
    *lock(&resolver.machine.environment) = Some("wgpu".into());
    assert!(!resolver.is_default(None) && resolver.is_default(Some("auto")));
    resolver.set(Some("auto")).unwrap();
    assert!(resolver.is_default(None));
    resolver.set(Some("gpu")).unwrap();
    assert!(!resolver.is_default(None));
}

#[test]
fn set_refuses_at_once_and_keeps_the_old_choice() {
    let resolver = three();
    resolver.set(Some("cpu")).unwrap();
    assert_eq!(resolver.set(Some("cuda")).unwrap_err().kind(), ErrorKind::NotCompiled);
    assert_eq!(resolver.set(Some("abacus")).unwrap_err().kind(), ErrorKind::UnknownRuntime);
    assert_eq!(place(&resolver, None), "cpu");
    resolver.set(Some("wgpu:9")).unwrap();
    assert_eq!(place(&resolver, None), "Unavailable", "whether it is here shows in use");
    assert_eq!(resolver.machine.opened.load(Ordering::Relaxed), 0);
}

#[test]
fn an_empty_machine_computes_on_the_cpu_and_names_what_is_missing() {
    let resolver = machine(vec![]);
    assert_eq!(place(&resolver, None), "cpu");
    for (name, kind, part) in [
        ("cuda", ErrorKind::NotCompiled, "libcuda.so.1"),
        ("hip", ErrorKind::NotCompiled, "libamdhip64.so"),
        ("wgpu", ErrorKind::Unavailable, "libvulkan.so.1"),
        ("vulkan", ErrorKind::Unavailable, "libvulkan1"),
        ("gpu", ErrorKind::Unavailable, "no hardware GPU"),
    ] {
        let e = resolver.resolve(Some(name)).unwrap_err();
        assert_eq!(e.kind(), kind, "{e}");
        assert!(e.to_string().contains(part), "{e}");
    }
    let e = resolver.resolve(Some("cuda")).unwrap_err().to_string();
    assert!(
        e.starts_with(
            "runtime 'cuda' is not compiled into this build; compiled in: wgpu, cpu; dspk 0.1.0 has no cuda runtime yet: use \
             wgpu (Vulkan)"
        ),
        "{e}"
    );
}

#[test]
fn a_software_adapter_must_be_named() {
    let resolver = machine(vec![adapter(0, Class::Discrete, "SwiftShader Device")]);
    assert_eq!(place(&resolver, None), "cpu");
    assert_eq!(place(&resolver, Some("gpu")), "Unavailable");
    assert_eq!(place(&resolver, Some("wgpu")), "wgpu:0");
    assert!(resolver.resolve(Some("wgpu")).unwrap().record.describe().contains("software adapter"));
}

#[test]
fn the_default_forgives_a_broken_device_and_a_name_does_not() {
    let resolver = three();
    *lock(&resolver.machine.broken) = vec!["wgpu:2".into()];
    assert_eq!(place(&resolver, None), "wgpu:1");
    assert_eq!(place(&resolver, Some("gpu")), "wgpu:1");
    assert_eq!(place(&resolver, Some("wgpu")), "Unavailable");
    *lock(&resolver.machine.broken) = vec!["wgpu:2".into(), "wgpu:1".into()];
    let resolver = Resolver { machine: resolver.machine, ..three() };
    assert_eq!(place(&resolver, None), "cpu");
}

#[test]
fn devices_are_opened_once_and_shared_by_all_names_and_threads() {
    let resolver = three();
    assert_eq!(resolver.machine.opened.load(Ordering::Relaxed), 0, "nothing opens before it is used");
    let barrier = Barrier::new(8);
    std::thread::scope(|scope| {
        for name in ["wgpu", "auto", "gpu", "vulkan", "wgpu:2", "wgpu:xtx", "", "WGPU"] {
            let (resolver, barrier) = (&resolver, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for _ in 0..100 {
                    assert_eq!(resolver.resolve(Some(name)).unwrap().target.key(), "wgpu:2-0");
                }
            });
        }
    });
    assert_eq!(resolver.machine.opened.load(Ordering::Relaxed), 1);
    assert_eq!(resolver.machine.looked.load(Ordering::Relaxed), 1);
}

#[test]
fn a_lost_device_is_opened_anew() {
    let resolver = three();
    assert_eq!(resolver.resolve(None).unwrap().target.key(), "wgpu:2-0");
    resolver.machine.lost.store(true, Ordering::Relaxed);
    assert_eq!(resolver.resolve(None).unwrap().target.key(), "wgpu:2-1");
    assert_eq!(resolver.resolve(Some("vulkan")).unwrap().target.key(), "wgpu:2-1");
}

#[test]
fn refresh_sees_what_has_changed() {
    let resolver = machine(vec![]);
    assert_eq!(place(&resolver, None), "cpu");
    *lock(&resolver.machine.adapters) = vec![adapter(0, Class::Discrete, "new card")];
    assert_eq!(place(&resolver, None), "cpu", "not looked at again by itself");
    resolver.refresh();
    assert_eq!(place(&resolver, None), "wgpu:0");
}

#[test]
fn many_names_do_not_pile_up() {
    let resolver = three();
    for i in 0..10 * NAMES_KEPT {
        assert_eq!(place(&resolver, Some(&format!("{}cpu", " ".repeat(i)))), "cpu");
    }
    assert!(lock(&resolver.names).len() <= NAMES_KEPT);
}

#[test]
fn this_machine_resolves_without_a_name() {
    use crate::runtime;
    let report = runtime::report(false);
    assert_eq!(report.runtimes().len(), 4);
    assert!(runtime::available().ends_with(&["cpu"]));
    assert_eq!(runtime::resolve(Some("cpu")).unwrap().runtime(), "cpu");
    for record in report.devices().iter().filter(|r| r.usable) {
        assert_eq!(runtime::resolve(Some(&record.device)).unwrap().runtime(), record.runtime);
    }
    crate::accelerator::empty_cache();
}
