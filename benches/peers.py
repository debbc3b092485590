"""The peers of `cargo bench --bench compare`: answers each line `NAME` on stdin with the seconds of one run.

Every operation runs on two halves in a pool of two threads (numpy and scipy release the lock), with outputs reused, as
a fair user would write it.
"""
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import bottleneck as bn
import numpy as np
import scipy.signal as ss

C, N = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(1)
x32 = rng.standard_normal((C, N), dtype=np.float32)
x64 = x32.astype(np.float64)
raw = (x32.T * 1000).astype(np.int16)
raw = np.ascontiguousarray(raw)
y32 = np.zeros((C, N), np.float32)
y64 = np.zeros((C, N))
sos = ss.butter(5, [300, 6000], "bandpass", fs=30000, output="sos")
taps = {n: ss.firwin(n, [300, 6000], pass_zero=False, fs=30000).astype(np.float32)[None] for n in (31, 63, 255, 1025)}
pool = ThreadPoolExecutor(2)
channels = [slice(0, C // 2), slice(C // 2, C)]
samples = [slice(0, N // 2), slice(N // 2, N)]


def both(f, parts):
    list(pool.map(f, parts))


def sosfilt(x, y):
    def part(s):
        y[s] = ss.sosfilt(sos, x[s])
    both(part, channels)


def sosfiltfilt():
    def part(s):
        y64[s] = ss.sosfiltfilt(sos, x64[s])
    both(part, channels)


def fir(count):
    def part(s):
        y32[s] = ss.oaconvolve(x32[s], taps[count], axes=-1)[:, :N]
    both(part, channels)


def running_median(width):
    def part(s):
        y32[s] = bn.move_median(x32[s], width, axis=-1)
    both(part, channels)


def reference(center):
    def part(s):
        np.subtract(x32[:, s], center(x32[:, s], axis=0), out=y32[:, s])
    both(part, samples)


def convert():
    def part(s):
        for start in range(s.start, s.stop, 512):  # blocks that stay in cache: twice as quick as one astype
            block = slice(start, min(start + 512, s.stop))
            np.multiply(raw[block].T, np.float32(0.195), out=y32[:, block])
    both(part, samples)


def resample():
    def part(s):
        y32[s, : -(-N // 3)] = ss.resample_poly(x32[s], 1, 3, axis=-1)
    both(part, channels)


def decimate():
    def part(s):
        y64[s, : -(-N // 4)] = ss.decimate(x64[s], 4, axis=-1)
    both(part, channels)


def copy():
    both(lambda s: np.copyto(y32[s], x32[s]), channels)


rows = {
    "sosfilt_f64": lambda: sosfilt(x64, y64),
    "sosfilt_f32": lambda: sosfilt(x32, y32),
    "sosfiltfilt_f64": sosfiltfilt,
    **{f"fir{n}": lambda n=n: fir(n) for n in taps},
    **{f"median{w}": lambda w=w: running_median(w) for w in (9, 31)},
    "median_reference": lambda: reference(np.median),
    "mean_reference": lambda: reference(np.mean),
    "convert_i16": convert,
    "resample_poly_1_3": resample,
    "decimate_4": decimate,
    "copy": copy,
}
print("ready", np.__version__, __import__("scipy").__version__, bn.__version__, flush=True)
for line in sys.stdin:
    run = rows[line.strip()]
    start = time.perf_counter()
    run()
    print(time.perf_counter() - start, flush=True)
