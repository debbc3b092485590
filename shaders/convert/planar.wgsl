// [channels, samples] of int16 or float32 to scaled float32.
//
// A thread takes STEPS times 8 samples. Threads are counted flat: a binding of at most 4 GiB of float32 holds
// fewer than 2^30 values, so no index overflows.
// dspk:import shared/fold.wgsl
// dspk:import shared/scale.wgsl

const WG: u32 = 64u; // dspk:tune 16 32 64 128
const STEPS: u32 = 2u; // dspk:tune 1 2 4
const INT16: u32 = 1u; // dspk:specialise 0 1

struct PlanarArgs {
    channels: u32,
    chunks: u32, // runs of 8 samples in a row
    unused_a: u32,
    unused_b: u32,
    scale: Scale,
    one: f32, // 1.0
    unused_c: u32,
    unused_d: u32,
    unused_e: u32,
}

@group(0) @binding(0) var<uniform> args: PlanarArgs;
@group(0) @binding(1) var<storage, read> scales: array<Scale>;
@group(0) @binding(2) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let first = (flat_group(id, size) * WG + lane) * STEPS;
    // dspk:unroll
    for (var k = 0u; k < STEPS; k++) {
        let at = first + k;
        if (at < args.channels * args.chunks) {
            var scale = args.scale;
            if (MODE == 2u) {
                scale = scales[at / args.chunks];
            }
            if (INT16 == 1u) {
                let w = x[at];
                let a = lower(w);
                let b = upper(w);
                y[2u * at] = scaled(vec4<f32>(a.x, b.x, a.y, b.y), scale, args.one);
                y[2u * at + 1u] = scaled(vec4<f32>(a.z, b.z, a.w, b.w), scale, args.one);
            } else {
                y[2u * at] = scaled(bitcast<vec4<f32>>(x[2u * at]), scale, args.one);
                y[2u * at + 1u] = scaled(bitcast<vec4<f32>>(x[2u * at + 1u]), scale, args.one);
            }
        }
    }
}
