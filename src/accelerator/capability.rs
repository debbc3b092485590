//! Which operations a device accelerates, and what happens with the others.

use serde::Serialize;

use super::record::{Class, Record};

/// What an operation asks of a device. Every need is 0 or false unless stated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Operation {
    /// Registry name.
    pub name: String,
    /// It has a form for GPUs.
    pub gpu: bool,
    /// Why it has none, or anything else worth knowing.
    pub remark: String,
    /// It computes in float64.
    pub float64: bool,
    /// It needs float16.
    pub float16: bool,
    /// It needs subgroup operations.
    pub subgroups: bool,
    /// Work-group memory it needs, in bytes.
    pub group_bytes: u32,
    /// Threads its work groups need.
    pub group_size: u32,
}

/// What a device does with an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capability {
    /// Registry name.
    pub operation: String,
    /// It runs on a GPU made of silicon.
    pub accelerated: bool,
    /// Where it runs, and why not on the GPU.
    pub detail: String,
}

/// The truth per operation on one device, in the order given.
pub fn capabilities(device: &Record, operations: &[Operation]) -> Vec<Capability> {
    let one = |operation: &Operation| {
        let (accelerated, detail) = judge(device, operation);
        Capability { operation: operation.name.clone(), accelerated, detail }
    };
    operations.iter().map(one).collect()
}

fn judge(device: &Record, operation: &Operation) -> (bool, String) {
    let on_cpu = |why: &str| (false, format!("runs on the CPU: {why}"));
    if !device.usable {
        return on_cpu(if device.note.is_empty() { "the device is not usable" } else { &device.note });
    }
    if device.class == Class::Cpu {
        return (false, "runs on the CPU, in parallel and vectorised".into());
    }
    if !operation.gpu {
        return on_cpu(if operation.remark.is_empty() { "it has no GPU form" } else { &operation.remark });
    }
    if let Some(lack) = lacking(device, operation) {
        return on_cpu(&format!("the device lacks {lack}"));
    }
    let mut detail = match device.class {
        Class::Software => format!("runs on {}, a software adapter: no acceleration", device.device),
        _ => format!("runs on {}", device.device),
    };
    if !operation.remark.is_empty() {
        detail = format!("{detail}; {}", operation.remark);
    }
    (device.class.is_hardware_gpu(), detail)
}

/// The first thing the operation needs and the device does not have.
fn lacking(device: &Record, operation: &Operation) -> Option<String> {
    let limits = &device.limits;
    if operation.float64 && !device.float64 {
        return Some("float64".into());
    }
    if operation.float16 && !device.float16 {
        return Some("float16".into());
    }
    if operation.subgroups && device.subgroups.is_none() {
        return Some("subgroup operations".into());
    }
    // An unknown limit (0) is no reason to refuse: the launch checks it again.
    if limits.group_bytes > 0 && operation.group_bytes > limits.group_bytes {
        return Some(format!("{} bytes of work-group memory (it has {})", operation.group_bytes, limits.group_bytes));
    }
    if limits.group_size > 0 && operation.group_size > limits.group_size {
        return Some(format!("work groups of {} threads (it has {})", operation.group_size, limits.group_size));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu(class: Class) -> Record {
        let mut record = Record::blank("wgpu", "vulkan", "vulkan", class);
        record.device = "wgpu:0".into();
        record.limits.group_bytes = 32 << 10;
        record.set_state(true);
        record
    }

    #[test]
    fn each_need_is_checked_and_named() {
        let base = Operation { name: "op".into(), gpu: true, ..Default::default() };
        let cases = [
            (base.clone(), true, "runs on wgpu:0"),
            (Operation { gpu: false, ..base.clone() }, false, "no GPU form"),
            (Operation { gpu: false, remark: "host only".into(), ..base.clone() }, false, "host only"),
            (Operation { float64: true, ..base.clone() }, false, "float64"),
            (Operation { float16: true, ..base.clone() }, false, "float16"),
            (Operation { subgroups: true, ..base.clone() }, false, "subgroup"),
            (Operation { group_bytes: 48 << 10, ..base.clone() }, false, "49152 bytes"),
            (Operation { group_size: 1024, ..base }, true, "runs on wgpu:0"),
        ];
        for (operation, accelerated, part) in cases {
            let got = &capabilities(&gpu(Class::Discrete), &[operation])[0];
            assert_eq!(got.accelerated, accelerated, "{got:?}");
            assert!(got.detail.contains(part), "{got:?} lacks {part}");
        }
    }

    #[test]
    fn software_adapters_and_cpus_accelerate_nothing() {
        let operation = Operation { name: "op".into(), gpu: true, ..Default::default() };
        let soft = &capabilities(&gpu(Class::Software), std::slice::from_ref(&operation))[0];
        assert!(!soft.accelerated && soft.detail.contains("software"));
        let mut broken = gpu(Class::Discrete);
        broken.set_state(false);
        broken.note = "driver gone".into();
        let broken = &capabilities(&broken, &[operation])[0];
        assert!(!broken.accelerated && broken.detail.contains("driver gone"));
    }
}
