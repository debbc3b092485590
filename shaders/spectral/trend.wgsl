// Means, or straight lines of least squares, of frames: what is taken off them before they are weighted.
//
// A work group sums the differences of a frame's samples from its first one, and, for lines, these times the distance
// from the frame's middle, in pairs of floats: an offset or a slope, however large, then costs what is left no digits,
// and a constant leaves nothing. Long frames are summed in parts, which a second launch joins.
// dspk:import shared/fold.wgsl
// dspk:import shared/double_single.wgsl
// dspk:import shared/frame.wgsl

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

fn both(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    // dspk:fold
    if (LINEAR == 1u) {
        return vec4<f32>(pair_sum(a.xy, b.xy, args.one), pair_sum(a.zw, b.zw, args.one));
    } else {
        return vec4<f32>(pair_sum(a.xy, b.xy, args.one), 0.0, 0.0);
    }
}

// Difference and moment of a sample.
fn terms(v: f32, origin: f32, i: u32) -> vec4<f32> {
    let difference = pair_sum(vec2<f32>(v, 0.0), vec2<f32>(-origin, 0.0), args.one);
    // dspk:fold
    if (LINEAR == 1u) {
        let middle = 0.5 * f32(2 * i32(i) + 1 - i32(args.cut.nperseg));
        return vec4<f32>(difference, pair_product(difference, vec2<f32>(middle, 0.0), args.one));
    } else {
        return vec4<f32>(difference, 0.0, 0.0);
    }
}

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
            let mean = pair_product(line.xy, args.weights.xy, args.one);
            let slope = pair_product(line.zw, args.weights.zw, args.one);
            line = vec4<f32>(pair_sum(vec2<f32>(origin, 0.0), mean, args.one), slope);
        }
        lines[group] = line;
    }
}
