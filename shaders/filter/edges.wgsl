// The extensions of every channel before and after its samples, and the value they and the channel are taken relative to.
//
// An offset much larger than the signal would round the differences that an odd extension is made of: RELATIVE ones are
// formed as differences of neighbours, which are exact.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u;
const ODD: u32 = 0u;
const EVEN: u32 = 1u;

struct EdgesArgs {
    channels: u32,
    pitch: u32, // of the channels
    samples: u32,
    edge: u32, // samples of an extension
    edge_pitch: u32,
    padding: u32, // ODD, EVEN, or the end value
    relative: u32, // 1: to the first sample
    unused: u32,
}

@group(0) @binding(0) var<uniform> args: EdgesArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> head: array<f32>;
@group(0) @binding(3) var<storage, read_write> tail: array<f32>;
@group(0) @binding(4) var<storage, read_write> offsets: array<f32>;

// A value beyond `end`, mirrored from `inner`, less `offset`.
fn beyond(end: f32, inner: f32, offset: f32) -> f32 {
    if (args.padding == ODD) {
        return (end - offset) + (end - inner);
    }
    if (args.padding == EVEN) {
        return inner - offset;
    }
    return end - offset;
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let width = max(args.edge, 1u);
    let at = flat_group(id, size) * WG + lane;
    if (at >= args.channels * width) {
        return;
    }
    let channel = at / width;
    let k = at % width;
    let start = channel * args.pitch;
    let last = start + args.samples - 1u;
    let first = x[start];
    // Zero for what is not finite: infinity less itself would be a NaN everywhere, not only after it.
    let finite = (bitcast<u32>(first) & 0x7f800000u) != 0x7f800000u;
    let offset = select(0.0, first, finite && args.relative == 1u);
    if (k == 0u) {
        offsets[channel] = offset;
    }
    if (k < args.edge) {
        let to = channel * args.edge_pitch + k;
        head[to] = beyond(first, x[start + args.edge - k], offset);
        tail[to] = beyond(x[last], x[last - 1u - k], offset);
    }
}
