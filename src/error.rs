//! The one error type of the crate.
//!
//! Every message says what was wrong, what was expected and what to do about it; [`Error::kind`] lets a program react
//! without reading it, and [`std::error::Error::source`] keeps the cause.

use std::fmt;
use std::sync::Arc;

/// What kind of thing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument is outside its legal range or contradicts another one.
    InvalidArgument,
    /// A shape, length or stride does not fit.
    Shape,
    /// A runtime or device name that does not exist.
    UnknownRuntime,
    /// The runtime exists, but this build of the crate does not contain it.
    NotCompiled,
    /// The runtime is compiled in, but this machine cannot run it now.
    Unavailable,
    /// The operation has no form for this input on this runtime.
    Unsupported,
    /// The result would not be accurate enough in the precision this runtime has.
    Precision,
    /// A device limit (binding size, buffer size, work groups) would be exceeded.
    Limit,
    /// The host or the device has no memory left for the request.
    OutOfMemory,
    /// The device was lost (driver reset, unplugged).
    DeviceLost,
    /// A kernel could not be composed, compiled or launched.
    Kernel,
    /// Reading or writing a file failed.
    Io,
    /// A fault of dspk itself.
    Internal,
}

impl ErrorKind {
    /// Whether the machine's state is at fault: the same call may succeed later, and says nothing about a variant.
    pub(crate) fn is_passing(self) -> bool {
        matches!(self, ErrorKind::OutOfMemory | ErrorKind::DeviceLost)
    }

    /// Whether the caller's input is at fault (as opposed to the machine or dspk).
    pub fn is_usage(self) -> bool {
        matches!(self, ErrorKind::InvalidArgument | ErrorKind::Shape)
    }
}

/// The crate's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of any part of dspk. Cheap to clone, so that a failed device start can be reported to every caller.
#[derive(Clone)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into(), source: None }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }

    pub(crate) fn shape(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Shape, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// Keeps the cause.
    pub(crate) fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Puts what was being done in front of the message.
    pub(crate) fn context(mut self, what: impl fmt::Display) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// What kind of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.message)?;
        if let Some(source) = &self.source {
            write!(f, " (caused by: {source})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|s| s.as_ref() as &(dyn std::error::Error + 'static))
    }
}

impl From<std::io::Error> for Error {
    fn from(e: std::io::Error) -> Self {
        Error::new(ErrorKind::Io, e.to_string()).with_source(e)
    }
}
