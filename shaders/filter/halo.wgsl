// Samples around a segment: those before and after it that a filter which looks both ways needs, from whichever segments
// hold them. The host has mapped every place, over the ends of the channel by the edge mode, to a sample of this
// segment, to the constant, or to none: then it comes from another launch.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u;
const CONSTANT: u32 = 0xfffffffeu;
const ELSEWHERE: u32 = 0xffffffffu;

struct HaloArgs {
    channels: u32,
    pitch: u32,
    width: u32, // samples around the segment
    constant: f32,
}

@group(0) @binding(0) var<uniform> args: HaloArgs;
@group(0) @binding(1) var<storage, read> places: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> halo: array<f32>;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let thread = flat_group(id, size) * WG + lane;
    if (thread >= args.channels * args.width) {
        return;
    }
    let place = places[thread % args.width];
    if (place == CONSTANT) {
        halo[thread] = args.constant;
    } else if (place != ELSEWHERE) {
        halo[thread] = x[thread / args.width * args.pitch + place];
    }
}
