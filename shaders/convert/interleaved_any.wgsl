// int16 or float32 [samples, channels] to scaled float32 [channels, samples], for any number of channels.
//
// A thread takes one channel and 8 samples; neighbouring threads are neighbouring channels, whose loads share words.
// Element indices stay below 2^31: the larger side of the conversion is bound whole.
// dspk:import shared/fold.wgsl
// dspk:import shared/scale.wgsl

const WG: u32 = 32u; // dspk:tune 16 32 64 128
const STEPS: u32 = 2u; // dspk:tune 1 2 4
const INT16: u32 = 1u; // dspk:specialise 0 1

struct AnyArgs {
    channels: u32,
    samples: u32,
    pitch4: u32,
    tiles: u32, // groups of WG threads across the channels
    scale: Scale,
    one: f32, // 1.0
    unused_c: u32,
    unused_d: u32,
    unused_e: u32,
}

@group(0) @binding(0) var<uniform> args: AnyArgs;
@group(0) @binding(1) var<storage, read> scales: array<Scale>;
@group(0) @binding(2) var<storage, read> x: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;

fn element(sample: u32, channel: u32) -> f32 {
    let at = min(sample, args.samples - 1u) * args.channels + channel;
    if (INT16 == 1u) {
        let word = x[at >> 1u] >> ((at & 1u) * 16u);
        return f32(bitcast<i32>(word << 16u) >> 16u);
    }
    return bitcast<f32>(x[at]);
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = flat_group(id, size);
    let channel = (group % args.tiles) * WG + lane;
    let first4 = (group / args.tiles) * STEPS;
    if (channel >= args.channels || first4 >= args.pitch4) {
        return;
    }
    var scale = args.scale;
    if (MODE == 2u) {
        scale = scales[channel];
    }
    // dspk:unroll
    for (var k = 0u; k < STEPS; k++) {
        let at4 = first4 + k;
        let s = at4 * 4u;
        let v = vec4<f32>(
            element(s, channel),
            element(s + 1u, channel),
            element(s + 2u, channel),
            element(s + 3u, channel),
        );
        if (at4 < args.pitch4) {
            y[channel * args.pitch4 + at4] = scaled(v, scale, args.one);
        }
    }
}
