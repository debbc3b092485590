//! Every way a driver reports a failure, turned into an error of the crate.
//!
//! wgpu panics on errors nobody asks for, so each call that can fail runs inside three error scopes; what arrives
//! outside of them is stored and reported by the next call; a lost device is remembered, and every later call says so.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, ErrorKind, Result};

/// Locks without ever panicking: the data behind our locks stays sound if a holder panicked.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What callbacks have reported.
#[derive(Default)]
struct Reports {
    lost: AtomicBool,
    reason: Mutex<String>,
    stray: Mutex<Option<wgpu::Error>>,
}

/// A device whose failures are errors.
pub(super) struct Faults {
    device: wgpu::Device,
    reports: Arc<Reports>,
}

impl Faults {
    /// Installs the callbacks.
    pub(super) fn new(device: wgpu::Device) -> Self {
        let reports = Arc::new(Reports::default());
        let sink = reports.clone();
        device.on_uncaptured_error(Arc::new(move |error| {
            log::debug!("wgpu reported outside of a call: {error}");
            lock(&sink.stray).get_or_insert(error);
        }));
        let sink = reports.clone();
        device.set_device_lost_callback(move |reason, message| {
            *lock(&sink.reason) = if message.is_empty() { format!("{reason:?}") } else { message };
            sink.lost.store(true, Ordering::Release);
        });
        Faults { device, reports }
    }

    pub(super) fn device(&self) -> &wgpu::Device {
        &self.device
    }

    pub(super) fn is_lost(&self) -> bool {
        self.reports.lost.load(Ordering::Acquire)
    }

    /// Treats the device as lost from now on.
    pub(super) fn lose(&self, reason: &str) {
        lock(&self.reports.reason).push_str(reason);
        self.reports.lost.store(true, Ordering::Release);
    }

    /// An error if the device is gone.
    pub(super) fn check_alive(&self) -> Result<()> {
        if !self.is_lost() {
            return Ok(());
        }
        let reason = lock(&self.reports.reason).clone();
        Err(Error::new(
            ErrorKind::DeviceLost,
            format!("the GPU device was lost ({reason}); its arrays are gone: run the call again, on a fresh device"),
        ))
    }

    /// Runs calls that can fail; `what` names them in the error.
    pub(super) fn guard<T>(&self, what: &str, calls: impl FnOnce(&wgpu::Device) -> T) -> Result<T> {
        self.check_alive()?;
        if let Some(stray) = lock(&self.reports.stray).take() {
            return Err(translate(what, stray));
        }
        let (value, error) = scoped(&self.device, calls);
        self.check_alive()?;
        match error {
            Some(error) => Err(translate(what, error)),
            None => Ok(value),
        }
    }

    /// Waits for the queue, or only runs the callbacks that are due. wgpu panics here when the device is lost while it
    /// waits; that is caught and counts as the loss it is.
    pub(super) fn poll(&self, wait: bool) -> Result<()> {
        self.check_alive()?;
        let kind = if wait { wgpu::PollType::wait_indefinitely() } else { wgpu::PollType::Poll };
        match catch_unwind(AssertUnwindSafe(|| self.device.poll(kind))) {
            Ok(Ok(_)) => self.check_alive(),
            Ok(Err(e)) => Err(Error::new(ErrorKind::Kernel, format!("waiting for the GPU failed: {e}")).with_source(e)),
            Err(_) => {
                self.lose("the driver failed while it was waited for");
                self.check_alive()
            }
        }
    }
}

/// Runs calls that can fail, and catches the error of the innermost kind they report.
pub(super) fn scoped<T>(device: &wgpu::Device, calls: impl FnOnce(&wgpu::Device) -> T) -> (T, Option<wgpu::Error>) {
    let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
    let value = calls(device);
    let errors =
        [pollster::block_on(internal.pop()), pollster::block_on(memory.pop()), pollster::block_on(validation.pop())];
    (value, errors.into_iter().flatten().next())
}

fn translate(what: &str, error: wgpu::Error) -> Error {
    let kind = match &error {
        wgpu::Error::OutOfMemory { .. } => ErrorKind::OutOfMemory,
        // Two threads at one array; no kernel is to blame for it.
        wgpu::Error::Validation { description, .. } if description.contains("still mapped") => {
            ErrorKind::InvalidArgument
        }
        wgpu::Error::Validation { .. } | wgpu::Error::Internal { .. } => ErrorKind::Kernel,
    };
    let message = match kind {
        ErrorKind::OutOfMemory => format!("{what}: the device has no memory left; process the recording in pieces"),
        ErrorKind::InvalidArgument => {
            format!(
                "{what}: another thread is uploading or downloading an array used here; wait for it first ({error})"
            )
        }
        _ => format!("{what}: {error}"),
    };
    Error::new(kind, message).with_source(error)
}
