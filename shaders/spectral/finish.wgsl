// Averages from the sums over parts of the frames, and what becomes of them: power, cross power or coherence.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u; // dspk:specialise 64
const KIND: u32 = 0u; // dspk:specialise 0..2
const VEC: u32 = (1u << KIND);
const WIDTH: u32 = 1u + KIND % 2u;

// KIND, beside the power of one signal
const CROSS: u32 = 1u; // conj(X) Y
const BOTH: u32 = 2u; // that, and both powers, for a coherence

alias Products = vec4<f32>; // dspk:vector VEC
alias Out = vec2<f32>; // dspk:vector WIDTH

struct FinishArgs {
    channels: u32,
    parts: u32, // of a channel
    bins: u32,
    first_channel: u32,
    pitch: u32, // values between channels of the result
    nfft: u32,
    scale: f32,
    one: f32,
}

@group(0) @binding(0) var<uniform> args: FinishArgs;
@group(0) @binding(1) var<storage, read> sums: array<Products>;
@group(0) @binding(2) var<storage, read_write> y: array<Out>;

fn spectrum(sum: Products, bin: u32) -> Out {
    // dspk:fold
    if (KIND == BOTH) {
        // Ratios first: products of powers leave the range of floats where a coherence does not.
        return Out((sum.x / sum.z) * (sum.x / sum.w) + (sum.y / sum.z) * (sum.y / sum.w));
    } else {
        let scale = args.scale * select(2.0, 1.0, bin == 0u || 2u * bin == args.nfft);
        // dspk:fold
        if (KIND == CROSS) {
            return scale * sum.xy;
        } else {
            return Out(scale * sum);
        }
    }
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let thread = flat_group(id, size) * WG + lane;
    if (thread >= args.channels * args.pitch) {
        return;
    }
    let channel = thread / args.pitch;
    let bin = thread % args.pitch;
    let place = (args.first_channel + channel) * args.pitch + bin;
    if (bin >= args.bins) {
        // Padding is finite.
        y[place] = Out(0.0);
        return;
    }
    // A sum that keeps its rounding errors; see shared/sum.wgsl.
    let one = Products(args.one);
    var high = Products(0.0);
    var low = Products(0.0);
    for (var part = 0u; part < args.parts; part++) {
        let v = sums[(channel * args.parts + part) * args.bins + bin];
        let t = fma(high, one, v);
        let b = fma(t, one, -high);
        low += (high - fma(t, one, -b)) + (v - b);
        high = t;
    }
    y[place] = spectrum(select(high, high + low, abs(high) <= Products(3.4e38)), bin);
}
