"""The peers of `cargo bench --bench spectra`: answers each line `OPERATION LENGTH LIBRARY` on stdin with the seconds of
one run, or `nan` where a library is not installed.

Transforms run on float32 rows that hold as many samples as fit the same array for every length, on two halves in a pool of
two threads (or two threads of the library's own, whichever it has), into outputs that are reused where the library can.
"""
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
import scipy
import scipy.fft
import scipy.signal as ss

TOTAL, C, N = (int(a) for a in sys.argv[1:4])
rng = np.random.default_rng(1)
flat = rng.standard_normal(max(TOTAL, C * N), dtype=np.float32)
x = flat[: C * N].reshape(C, N)
pool = ThreadPoolExecutor(2)
halves = [slice(0, C // 2), slice(C // 2, C)]
versions = [f"numpy {np.__version__}", f"scipy {scipy.__version__}"]


def optional(name):
    try:
        module = __import__(name)
        versions.append(f"{name} {getattr(module, '__version__', '')}")
        return module
    except ImportError:
        return None


pyfftw, ducc0, torch, mkl_fft = (optional(name) for name in ("pyfftw", "ducc0", "torch", "mkl_fft"))
if torch:
    torch.set_num_threads(2)


@lru_cache(maxsize=2)
def rows(n):
    channels = max(TOTAL // n, 1)
    return flat[: channels * n].reshape(channels, n), np.zeros((channels, n // 2 + 1), np.complex64)


@lru_cache(maxsize=2)
def fftw(n):
    a, b = rows(n)
    return pyfftw.FFTW(a, b, axes=(1,), flags=("FFTW_MEASURE",), threads=2)


def rfft(n, library):
    a, out = rows(n)
    if library == "scipy":
        scipy.fft.rfft(a, axis=1, workers=2)
    elif library == "pyfftw":
        fftw(n)()
    elif library == "ducc0":
        ducc0.fft.r2c(a, axes=(1,), out=out, nthreads=2)
    elif library == "torch":
        torch.fft.rfft(torch.from_numpy(a), out=torch.from_numpy(out))
    else:
        middle = len(a) // 2
        parts = [slice(0, middle), slice(middle, len(a))] if middle else [slice(0, 1)]
        list(pool.map(lambda s: mkl_fft.rfft(a[s], axis=1, out=out[s]), parts))


def both(f):
    list(pool.map(f, halves))


def local(operation, n, library):
    if library == "torch":
        torch.stft(torch.from_numpy(x), n, n // 2, window=torch.hann_window(n), return_complex=True)
    elif operation == "stft":
        both(lambda s: ss.stft(x[s], nperseg=n))
    elif operation == "welch":
        both(lambda s: ss.welch(x[s], nperseg=n))
    else:
        both(lambda s: ss.hilbert(x[s]))


def run(operation, n, library):
    if operation == "rfft":
        rfft(n, library)
    elif operation == "copy":
        a, _ = rows(n)
        np.copyto(copied[: a.size].reshape(a.shape), a)
    else:
        local(operation, n, library)


copied = np.zeros_like(flat)
print("ready", ", ".join(versions), flush=True)
for line in sys.stdin:
    operation, n, library = line.split()
    if library != "scipy" and globals()[library] is None:
        print("nan", flush=True)
        continue
    if (operation, library) == ("rfft", "pyfftw"):
        fftw(int(n))  # planned before it is timed
    start = time.perf_counter()
    run(operation, int(n), library)
    print(time.perf_counter() - start, flush=True)
