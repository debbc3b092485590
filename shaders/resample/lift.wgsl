// Adds to every result what its phase leaves of the channel's level.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u;

struct LiftArgs {
    channels: u32,
    pitch: u32,
    results: u32,
    up: u32,
}

@group(0) @binding(0) var<uniform> args: LiftArgs;
@group(0) @binding(1) var<storage, read> lifts: array<f32>;
@group(0) @binding(2) var<storage, read> levels: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let thread = flat_group(id, size) * WG + lane;
    if (thread >= args.channels * args.results) {
        return;
    }
    let channel = thread / args.results;
    let m = thread % args.results;
    let at = channel * args.pitch + m;
    y[at] = fma(lifts[m % args.up], levels[channel], y[at]);
}
