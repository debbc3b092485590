// Rows of complex values: wavelets ready to be transformed, or products of their spectra with those of channels.
//
// A work group writes WG * STEPS values of one row, side by side.
// dspk:import shared/fold.wgsl

const KIND: u32 = 0u; // dspk:specialise 0 1

// A row for each wavelet: its samples, and zeros.
const PLACE: u32 = 0u;
// Rows for each channel, one for each wavelet: the channel's one-sided spectrum, and its other side, times the wavelet's.
const MULTIPLY: u32 = 1u;

const WG: u32 = 64u;
const STEPS: u32 = 4u;

struct WaveletsArgs {
    rows: u32,
    groups: u32, // of a row
    points: u32, // of a row
    bins: u32, // of a channel's spectrum
    wavelets: u32,
    first: u32, // of these rows among all of a batch
    unused_a: u32,
    unused_b: u32,
}

@group(0) @binding(0) var<uniform> args: WaveletsArgs;
// Of each wavelet: where its samples begin, how many there are, and two numbers for spectral/scales.wgsl.
@group(0) @binding(1) var<storage, read> places: array<vec4<u32>>;
// Samples of wavelets, or spectra of channels.
@group(0) @binding(2) var<storage, read> x: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> spectra: array<vec2<f32>>; // of wavelets
@group(0) @binding(4) var<storage, read_write> z: array<vec2<f32>>;

fn value(row: u32, k: u32) -> vec2<f32> {
    // dspk:fold
    if (KIND == PLACE) {
        let place = places[row];
        return select(vec2<f32>(0.0), x[place.x + min(k, place.y - 1u)], k < place.y);
    } else {
        let all = args.first + row;
        let upper = k >= args.bins;
        // Bin n - k is the conjugate of bin k.
        let v = x[all / args.wavelets * args.bins + select(k, args.points - k, upper)];
        let a = vec2<f32>(v.x, select(v.y, -v.y, upper));
        let b = spectra[all % args.wavelets * args.points + k];
        return vec2<f32>(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x));
    }
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // Indices count pairs of floats of a binding, below 2^30.
    let group = flat_group(id, size);
    let row = group / args.groups;
    if (row >= args.rows) {
        return;
    }
    let start = (group % args.groups) * (WG * STEPS) + lane;
    // dspk:unroll
    for (var step = 0u; step < STEPS; step++) {
        let k = start + step * WG;
        if (k < args.points) {
            z[row * args.points + k] = value(row, k);
        }
    }
}
