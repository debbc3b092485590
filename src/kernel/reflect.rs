//! What a composed kernel binds and needs, read from naga's IR: nothing is retyped by hand.

use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module, StorageAccess};

use super::{Access, Binding};

/// A parsed and validated kernel.
pub(super) struct Reflected {
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests hand it to naga's writers"))]
    pub module: Module,
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests hand it to naga's writers"))]
    pub info: ModuleInfo,
    pub group_size: u32,
    pub group_bytes: u32,
    pub bindings: Vec<Binding>,
    pub subgroups: bool,
}

/// What is wrong, with the line of the flattened text if it is known.
pub(super) struct Fault {
    pub line: Option<u32>,
    pub message: String,
}

impl Fault {
    fn new(message: impl Into<String>) -> Self {
        Fault { line: None, message: message.into() }
    }
}

/// Parses, validates and reads the kernel.
pub(super) fn reflect(text: &str) -> Result<Reflected, Fault> {
    let module = naga::front::wgsl::parse_str(text)
        .map_err(|e| Fault { line: e.location(text).map(|l| l.line_number), message: e.message().to_string() })?;
    // Subgroups are found by what the kernel needs to be valid, so that nothing has to be declared twice.
    let (info, subgroups) = match validate(&module, Capabilities::empty(), text) {
        Ok(info) => (info, false),
        Err(first) => match validate(&module, Capabilities::SUBGROUP | Capabilities::SUBGROUP_BARRIER, text) {
            Ok(info) => (info, true),
            Err(_) => return Err(first),
        },
    };
    let [entry] = &module.entry_points[..] else {
        return Err(Fault::new(format!("a kernel has one entry point, this has {}", module.entry_points.len())));
    };
    if entry.name != "main" || entry.stage != naga::ShaderStage::Compute {
        return Err(Fault::new(format!("the entry point must be the compute shader `main`, found `{}`", entry.name)));
    }
    let [x, 1, 1] = entry.workgroup_size else {
        return Err(Fault::new(format!("work groups must be one-dimensional, found {:?}", entry.workgroup_size)));
    };
    let (group_bytes, bindings) = globals(&module)?;
    Ok(Reflected { group_size: x, group_bytes, bindings, subgroups, module, info })
}

fn validate(module: &Module, capabilities: Capabilities, text: &str) -> Result<ModuleInfo, Fault> {
    Validator::new(ValidationFlags::all(), capabilities).validate(module).map_err(|e| {
        let mut message = e.as_inner().to_string();
        let mut cause = std::error::Error::source(e.as_inner());
        while let Some(inner) = cause {
            message = format!("{message}: {inner}");
            cause = inner.source();
        }
        Fault { line: e.location(text).map(|l| l.line_number), message }
    })
}

fn globals(module: &Module) -> Result<(u32, Vec<Binding>), Fault> {
    let size = |ty| module.types[ty].inner.try_size(module.to_ctx()).ok_or_else(|| Fault::new("a type is too large"));
    let mut group_bytes = 0;
    let mut bindings = Vec::new();
    for (_, variable) in module.global_variables.iter() {
        let name = variable.name.clone().unwrap_or_default();
        let access = match variable.space {
            AddressSpace::Uniform => Access::Uniform,
            AddressSpace::Storage { access } if access.contains(StorageAccess::STORE) => Access::ReadWrite,
            AddressSpace::Storage { .. } => Access::Read,
            AddressSpace::WorkGroup => {
                group_bytes += size(variable.ty)?;
                continue;
            }
            AddressSpace::Private => continue,
            other => {
                return Err(Fault::new(format!("`{name}` lives in an address space kernels do not use: {other:?}")));
            }
        };
        match &variable.binding {
            Some(place) if place.group == 0 => {
                bindings.push(Binding { index: place.binding, name, access, min_bytes: size(variable.ty)?.into() });
            }
            _ => return Err(Fault::new(format!("`{name}` must be bound in group 0"))),
        }
    }
    bindings.sort_by_key(|b| b.index);
    match bindings.iter().enumerate().find(|(i, b)| b.index as usize != *i) {
        Some((i, b)) => {
            Err(Fault::new(format!("binding {i} is missing or used twice (`{}` is at {})", b.name, b.index)))
        }
        None => Ok((group_bytes, bindings)),
    }
}
