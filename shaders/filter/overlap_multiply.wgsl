// Spectra of blocks times those of the responses of their channels, in place.
//
// A work group takes WG * STEPS bins of one row.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u;
const STEPS: u32 = 4u;

struct MultiplyArgs {
    rows: u32,
    groups: u32, // of a row
    bins: u32, // of a row
    pitch: u32, // pairs of floats between rows
    blocks: u32, // rows of a channel
    first_row: u32, // of these among all
    response: u32, // pairs of floats between the responses of two channels; 0 = one for all
    unused_a: u32,
}

@group(0) @binding(0) var<uniform> args: MultiplyArgs;
@group(0) @binding(1) var<storage, read> responses: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> z: array<vec2<f32>>;

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
    let response = (args.first_row + row) / args.blocks * args.response;
    let start = (group - row * args.groups) * (WG * STEPS) + lane;
    // dspk:unroll
    for (var step = 0u; step < STEPS; step++) {
        let k = start + step * WG;
        if (k < args.bins) {
            let a = z[row * args.pitch + k];
            let b = responses[response + k];
            z[row * args.pitch + k] = vec2<f32>(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x));
        }
    }
}
