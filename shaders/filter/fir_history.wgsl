// The samples before the next segment: the last `history` samples of the history before this one and of the segment.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u;

struct HistoryArgs {
    channels: u32,
    pitch: u32,
    samples: u32,
    history: u32,
}

@group(0) @binding(0) var<uniform> args: HistoryArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> before: array<f32>;
@group(0) @binding(3) var<storage, read_write> after: array<f32>;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let thread = flat_group(id, size) * WG + lane;
    if (thread >= args.channels * args.history) {
        return;
    }
    let channel = thread / args.history;
    let place = thread % args.history + args.samples;
    if (place >= args.history) {
        after[thread] = x[channel * args.pitch + place - args.history];
    } else {
        after[thread] = before[channel * args.history + place];
    }
}
