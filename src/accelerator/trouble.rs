//! What can stand between a device and its use, each with its remedy.

use std::fmt;

/// Why something is not usable. Its text says what is wrong, then what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// The runtime is not part of this build.
    NotCompiled {
        /// Its name, which is also the feature's.
        runtime: &'static str,
    },
    /// A shared library is not installed.
    LibraryMissing {
        /// File name, such as `libcuda.so.1`.
        library: String,
        /// What to do.
        remedy: &'static str,
    },
    /// No driver is bound to the hardware.
    DriverMissing {
        /// Vendor of the hardware.
        vendor: &'static str,
    },
    /// A driver is bound, but the interface's own part of it lists nothing.
    NoInterface {
        /// Vendor of the hardware.
        vendor: &'static str,
        /// Kernel driver that is bound.
        driver: String,
        /// The interface, such as `Vulkan`.
        interface: &'static str,
    },
    /// The driver is older than what this build needs.
    DriverTooOld {
        /// Version found.
        have: String,
        /// Oldest version that works.
        need: &'static str,
    },
    /// The device node may not be opened by this user.
    Permission {
        /// The node.
        path: String,
        /// The group that may.
        group: String,
    },
    /// Inside a container that was started without the device.
    Container {
        /// Vendor of the hardware.
        vendor: &'static str,
    },
    /// A driver did not answer.
    Hung {
        /// How long it was waited for.
        seconds: u64,
    },
    /// The interface answered and has no device to offer.
    NothingFound {
        /// The interface, such as `Vulkan`.
        interface: &'static str,
    },
    /// An environment variable keeps the Vulkan loader from looking for drivers, and those it names offer nothing.
    DriversHidden {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
    /// What a driver or a probe said itself.
    Said(String),
}

fn container_remedy(vendor: &str) -> &'static str {
    match vendor {
        "NVIDIA" => "start it with `--gpus all` (NVIDIA Container Toolkit)",
        "AMD" => "start it with `--device /dev/kfd --device /dev/dri --group-add render`",
        _ => "start it with `--device /dev/dri --group-add render`",
    }
}

fn driver_remedy(vendor: &str) -> &'static str {
    match vendor {
        "NVIDIA" => "install the NVIDIA driver (Ubuntu: `sudo ubuntu-drivers install`) and restart",
        "AMD" => "load the amdgpu driver (`sudo modprobe amdgpu`) or install the linux-firmware package and restart",
        "Intel" => "load the i915 or xe driver (`sudo modprobe i915`), or install a newer kernel",
        _ => "install the vendor's driver and restart",
    }
}

fn interface_remedy(vendor: &str) -> &'static str {
    match vendor {
        "NVIDIA" => {
            "install the driver's user-space part (Ubuntu: `libnvidia-gl-<version>`); in a container also set \
                     `NVIDIA_DRIVER_CAPABILITIES=all`"
        }
        _ => {
            "install Mesa's drivers (Debian, Ubuntu: `sudo apt install mesa-vulkan-drivers`; Fedora: `sudo dnf install \
              mesa-vulkan-drivers`) and look for a `VK_DRIVER_FILES` or `VK_ICD_FILENAMES` that hides them"
        }
    }
}

/// What to do about a runtime that this build does not contain.
pub(crate) fn build_remedy(runtime: &str) -> String {
    match runtime {
        "cuda" | "hip" => format!("dspk {} has no {runtime} runtime yet: use wgpu (Vulkan)", env!("CARGO_PKG_VERSION")),
        _ => format!("rebuild with `--features {runtime}`"),
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::NotCompiled { runtime } => {
                write!(f, "the {runtime} runtime is not compiled into this build; {}", build_remedy(runtime))
            }
            Trouble::LibraryMissing { library, remedy } => write!(f, "the library {library} is missing; {remedy}"),
            Trouble::DriverMissing { vendor } => {
                write!(f, "no driver is loaded for this {vendor} device; {}", driver_remedy(vendor))
            }
            Trouble::NoInterface { vendor, driver, interface } => write!(
                f,
                "the kernel driver {driver} is loaded, but no {interface} driver offers this device; {}",
                interface_remedy(vendor)
            ),
            Trouble::DriverTooOld { have, need } => {
                write!(f, "driver {have} is too old; install version {need} or newer")
            }
            Trouble::Permission { path, group } => write!(
                f,
                "permission denied on {path}; add the user to the `{group}` group: `sudo usermod -aG {group} $USER`, \
                 then log in again"
            ),
            Trouble::Container { vendor } => {
                write!(f, "this container was started without the {vendor} device; {}", container_remedy(vendor))
            }
            Trouble::Hung { seconds } => write!(
                f,
                "a driver did not answer within {seconds} s and was given up on; restart the machine, or take the driver \
                 out (`VK_DRIVER_FILES`, `CUDA_VISIBLE_DEVICES`)"
            ),
            Trouble::NothingFound { interface } => {
                write!(f, "{interface} works but has no device to offer; install the driver of your GPU")
            }
            Trouble::DriversHidden { variable, value } => write!(
                f,
                "{variable}={value} allows only those Vulkan drivers, and they offer no such device; unset {variable}"
            ),
            Trouble::Said(text) => f.write_str(text),
        }
    }
}
