// Every `step`-th sample.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u;

struct PickArgs {
    channels: u32,
    pitch: u32, // of the samples
    first: u32, // the first sample taken
    step: u32,
    out_pitch: u32,
    out_first: u32, // where it goes
    results: u32,
    places: u32, // of the results, with the row's padding
}

@group(0) @binding(0) var<uniform> args: PickArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let thread = flat_group(id, size) * WG + lane;
    if (thread >= args.channels * args.places) {
        return;
    }
    let channel = thread / args.places;
    let m = thread % args.places;
    let at = channel * args.pitch + args.first + min(m, args.results - 1u) * args.step;
    y[channel * args.out_pitch + args.out_first + m] = select(0.0, x[at], m < args.results);
}
