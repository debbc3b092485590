// Blocks of channels, each a row ready to be transformed: its own samples and those before it that its results need.
//
// A work group writes WG * STEPS values of one row.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u;
const STEPS: u32 = 4u;

struct LoadArgs {
    rows: u32,
    groups: u32, // of a row
    points: u32, // of a row
    pitch: u32, // of the rows
    blocks: u32, // of a channel
    step: u32, // samples from one to the next
    first_row: u32, // of these among all
    origin: i32, // the sample with which the first block of a channel begins
    samples: i32,
    pitch_x: u32,
    unused_a: u32,
    unused_b: u32,
}

@group(0) @binding(0) var<uniform> args: LoadArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> z: array<f32>;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = flat_group(id, size);
    let row = group / args.groups;
    if (row >= args.rows) {
        return;
    }
    let all = args.first_row + row;
    let channel = all / args.blocks;
    let first = args.origin + i32((all - channel * args.blocks) * args.step);
    let start = (group - row * args.groups) * (WG * STEPS) + lane;
    // dspk:unroll
    for (var step = 0u; step < STEPS; step++) {
        let k = start + step * WG;
        if (k < args.points) {
            let at = first + i32(k);
            var v = 0.0;
            if (at >= 0 && at < args.samples) {
                v = x[channel * args.pitch_x + u32(at)];
            }
            z[row * args.pitch + k] = v;
        }
    }
}
