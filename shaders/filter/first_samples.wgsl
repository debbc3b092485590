// The first sample of every channel, gathered for the host.
// dspk:import shared/fold.wgsl

const WG: u32 = 32u;

struct FirstArgs {
    channels: u32,
    pitch: u32,
    unused_a: u32,
    unused_b: u32,
}

@group(0) @binding(0) var<uniform> args: FirstArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> first: array<f32>;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let channel = flat_group(id, size) * WG + lane;
    if (channel < args.channels) {
        first[channel] = x[channel * args.pitch];
    }
}
