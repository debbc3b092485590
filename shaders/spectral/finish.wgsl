// Averages from the sums over parts of the frames, and what becomes of them: power, cross power or coherence.
// dspk:import shared/fold.wgsl
// dspk:import shared/products.wgsl

const WG: u32 = 64u; // dspk:specialise 64
const WIDTH: u32 = 1u + KIND % 2u;

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
    var sum = Tally(Products(0.0), Products(0.0));
    for (var part = 0u; part < args.parts; part++) {
        sum = tallied(sum, sums[(channel * args.parts + part) * args.bins + bin], args.one);
    }
    y[place] = spectrum(total(sum), bin);
}
