// What stands around a segment where that is no single sample: sums of one, the first and the last of the channel, or the
// channel's level. The host has the weights; one of 0 takes no part, also of what is not finite.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u;

struct BeyondArgs {
    channels: u32,
    width: u32, // samples around the segment
    unused0: u32,
    unused1: u32,
}

@group(0) @binding(0) var<uniform> args: BeyondArgs;
// For each place the weights of its sample, of the first and the last one, and of the level.
@group(0) @binding(1) var<storage, read> weights: array<vec4<f32>>;
// For each channel the samples, then the first and the last one.
@group(0) @binding(2) var<storage, read> samples: array<f32>;
@group(0) @binding(3) var<storage, read> levels: array<f32>;
@group(0) @binding(4) var<storage, read_write> halo: array<f32>;

fn part(weight: f32, v: f32) -> f32 {
    return select(weight * v, 0.0, weight == 0.0);
}

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
    let channel = thread / args.width;
    let place = thread % args.width;
    let w = weights[place];
    let row = channel * (args.width + 2u);
    let own = part(w.x, samples[row + place]) + part(w.w, levels[channel]);
    halo[thread] = own + part(w.y, samples[row + args.width]) + part(w.z, samples[row + args.width + 1u]);
}
