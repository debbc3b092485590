// Means, or straight lines of least squares, of frames: what is taken off them before they are weighted.
//
// A work group sums the differences of a frame's samples from its first one, and, for lines, these times the distance
// from the frame's middle, in pairs of floats: an offset or a slope, however large, then costs what is left no digits,
// and a constant leaves nothing. Long frames are summed in parts, which a second launch joins.
// dspk:import shared/fold.wgsl
// dspk:import shared/frame.wgsl
// dspk:import shared/moments.wgsl

const WG: u32 = 8u; // dspk:specialise 8 64
const LINEAR: u32 = 0u; // dspk:specialise 0 1
const STAGE: u32 = 0u; // dspk:specialise 0..2

// STAGE, beside whole frames
const PART: u32 = 1u;
const JOIN: u32 = 2u;

struct TrendArgs {
    cut: Cut,
    parts: u32, // of a frame
    length: u32, // of a part
    one: f32,
    unused: f32,
    // 1 / n, and 1 / the sum of squared distances from the middle.
    weights: vec4<f32>,
}

@group(0) @binding(0) var<uniform> args: TrendArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> sums: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> lines: array<vec4<f32>>;

var<workgroup> shared_sums: array<vec4<f32>, WG>;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = flat_group(id, size);
    if (group >= args.cut.rows * select(args.parts, 1u, STAGE == JOIN)) {
        return;
    }
    let row = select(group / args.parts, group, STAGE == JOIN);
    let frame = frame_of(row);
    let origin = sample(frame.signal, frame.start);
    var sum = vec4<f32>(0.0);
    // dspk:fold
    if (STAGE == JOIN) {
        for (var part = lane; part < args.parts; part += WG) {
            sum = both(sum, sums[row * args.parts + part]);
        }
    } else {
        let first = group % args.parts * args.length;
        let end = min(first + args.length, args.cut.nperseg);
        for (var i = first + lane; i < end; i += WG) {
            sum = both(sum, terms(sample(frame.signal, frame.start + i32(i)), origin, i));
        }
    }
    shared_sums[lane] = sum;
    workgroupBarrier();
    for (var span = WG / 2u; span > 0u; span /= 2u) {
        if (lane < span) {
            shared_sums[lane] = both(shared_sums[lane], shared_sums[lane + span]);
        }
        workgroupBarrier();
    }
    if (lane == 0u) {
        var line = shared_sums[0];
        // dspk:fold
        if (STAGE != PART) {
            line = line_of(line, origin, args.weights);
        }
        lines[group] = line;
    }
}
