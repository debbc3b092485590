// Copies vec4s: the yardstick by which device kernels are measured. Four a thread is the best of the plain forms.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u; // dspk:tune 64 128 256

struct CopyArgs {
    count: u32, // vec4s
    unused_a: u32,
    unused_b: u32,
    unused_c: u32,
}

@group(0) @binding(0) var<uniform> args: CopyArgs;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let first = (flat_group(id, size) * WG + lane) * 4u;
    // dspk:unroll
    for (var k = 0u; k < 4u; k++) {
        if (first + k < args.count) {
            y[first + k] = x[first + k];
        }
    }
}
