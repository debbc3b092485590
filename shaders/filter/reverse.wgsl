// Rows turned around in time, plus a multiple of a value for each.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u;

struct ReverseArgs {
    vectors: u32, // of all rows
    pitch4: u32,
    samples: u32,
    gain: f32,
}

@group(0) @binding(0) var<uniform> args: ReverseArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> offsets: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let at = flat_group(id, size) * WG + lane;
    if (at >= args.vectors) {
        return;
    }
    let channel = at / args.pitch4;
    let first = (at - channel * args.pitch4) * 4u;
    let end = channel * args.pitch4 * 4u + args.samples;
    // What lies after the last sample must be finite.
    var v = vec4<f32>(0.0);
    for (var j = 0u; j < 4u; j++) {
        if (first + j < args.samples) {
            v[j] = fma(args.gain, offsets[channel], x[end - 1u - first - j]);
        }
    }
    y[at] = v;
}
