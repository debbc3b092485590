// Rows of real values put together to what is asked for; what lies behind a row's values becomes zero.
//
// A work group writes WG * STEPS values of one row, side by side.
// dspk:import shared/fold.wgsl

const KIND: u32 = 0u; // dspk:specialise 0..2

// The analytic signal: a row, and the same turned by a quarter, in pairs.
const PAIRS: u32 = 0u;
// Its magnitude.
const MAGNITUDE: u32 = 1u;
// The first values of the second row as they are.
const CUT: u32 = 2u;

const WG: u32 = 64u;
const STEPS: u32 = 4u;

const WIDTH: u32 = 2u - (KIND + 1u) / 2u;

alias Out = vec2<f32>; // dspk:vector WIDTH

struct AnalyticArgs {
    rows: u32,
    groups: u32, // of a row
    samples: u32,
    x_pitch: u32,
    q_pitch: u32,
    y_pitch: u32, // values between rows of the result
    nan: u32, // bits of a NaN
    unused: u32,
}

@group(0) @binding(0) var<uniform> args: AnalyticArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> q: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<Out>;

fn is_nan(v: f32) -> bool {
    return (bitcast<u32>(v) & 0x7fffffffu) > 0x7f800000u;
}

// Without squares of what is very large or very small.
fn magnitude(a: f32, b: f32) -> f32 {
    let longer = max(abs(a), abs(b));
    let ratio = min(abs(a), abs(b)) / longer;
    return select(longer * sqrt(fma(ratio, ratio, 1.0)), 0.0, longer == 0.0);
}

// Value k of a row. A sample that is not finite has made its whole row q NaN, and takes the real parts with it.
fn value(row: u32, k: u32) -> Out {
    let im = q[row * args.q_pitch + k];
    // dspk:fold
    if (KIND == CUT) {
        return Out(im);
    } else {
        let re = x[row * args.x_pitch + k];
        // dspk:fold
        if (KIND == PAIRS) {
            return select(Out(re, im), Out(bitcast<f32>(args.nan)), is_nan(im));
        } else {
            return Out(select(magnitude(re, im), bitcast<f32>(args.nan), is_nan(im)));
        }
    }
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // Indices count floats of a binding, below 2^31.
    let group = flat_group(id, size);
    let row = group / args.groups;
    if (row >= args.rows) {
        return;
    }
    let start = (group % args.groups) * (WG * STEPS) + lane;
    // dspk:unroll
    for (var step = 0u; step < STEPS; step++) {
        let k = start + step * WG;
        if (k < args.y_pitch) {
            var v = Out(0.0);
            if (k < args.samples) {
                v = value(row, k);
            }
            y[row * args.y_pitch + k] = v;
        }
    }
}
