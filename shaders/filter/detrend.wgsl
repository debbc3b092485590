// Takes the mean, or the straight line of least squares, off a piece of every channel.
//
// A work group sums the differences of samples from the piece's first one, and, for lines, these times the distance from
// the piece's middle, in pairs of floats: an offset or a slope, however large, then costs what is left no digits, and a
// constant leaves nothing. Pieces are summed in parts, which a second launch joins; a third takes the line off.
// dspk:import shared/fold.wgsl
// dspk:import shared/double_single.wgsl

const WG: u32 = 64u; // dspk:tune 8 32 64 128
const LINEAR: u32 = 1u; // dspk:specialise 0 1
const STAGE: u32 = 0u; // dspk:specialise 0..2

// STAGE, beside the sums of parts
const JOIN: u32 = 1u;
const APPLY: u32 = 2u;

struct DetrendArgs {
    channels: u32,
    pitch: u32,
    start: u32, // of the piece
    samples: u32, // of the piece
    parts: u32, // of the piece
    length: u32, // of a part
    end: u32, // up to where the results are written: for the last piece the row's padding too
    one: f32,
    // 1 / n, and 1 / the sum of squared distances from the middle.
    weights: vec4<f32>,
}

@group(0) @binding(0) var<uniform> args: DetrendArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> sums: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> lines: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

var<workgroup> shared_sums: array<vec4<f32>, WG>;

// The distance from the piece's middle: twice it is a whole number, which a pair holds exactly.
fn distance(i: u32) -> vec2<f32> {
    let twice = 2 * i32(i) + 1 - i32(args.samples);
    let high = twice / 4096 * 4096;
    return pair_sum(vec2<f32>(0.5 * f32(high), 0.0), vec2<f32>(0.5 * f32(twice - high), 0.0), args.one);
}

// The sample's difference from the first one of the piece.
fn difference(channel: u32, i: u32) -> vec2<f32> {
    let row = channel * args.pitch + args.start;
    return pair_sum(vec2<f32>(x[row + i], 0.0), vec2<f32>(-x[row], 0.0), args.one);
}

fn both(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    // dspk:fold
    if (LINEAR == 1u) {
        return vec4<f32>(pair_sum(a.xy, b.xy, args.one), pair_sum(a.zw, b.zw, args.one));
    } else {
        return vec4<f32>(pair_sum(a.xy, b.xy, args.one), 0.0, 0.0);
    }
}

fn terms(channel: u32, i: u32) -> vec4<f32> {
    let d = difference(channel, i);
    // dspk:fold
    if (LINEAR == 1u) {
        return vec4<f32>(d, pair_product(d, distance(i), args.one));
    } else {
        return vec4<f32>(d, 0.0, 0.0);
    }
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = flat_group(id, size);
    // dspk:fold
    if (STAGE == APPLY) {
        let span = args.end - args.start;
        let thread = group * WG + lane;
        if (thread >= args.channels * span) {
            return;
        }
        let channel = thread / span;
        let i = thread % span;
        var left = vec2<f32>(0.0);
        if (i < args.samples) {
            let line = sums[channel];
            left = pair_sum(difference(channel, i), -line.xy, args.one);
            // dspk:fold
            if (LINEAR == 1u) {
                left = pair_sum(left, -pair_product(line.zw, distance(i), args.one), args.one);
            }
        }
        y[channel * args.pitch + args.start + i] = left.x + left.y;
    } else {
        let parts = select(args.parts, 1u, STAGE == JOIN);
        if (group >= args.channels * parts) {
            return;
        }
        let channel = group / parts;
        var sum = vec4<f32>(0.0);
        // dspk:fold
        if (STAGE == JOIN) {
            for (var part = lane; part < args.parts; part += WG) {
                sum = both(sum, sums[channel * args.parts + part]);
            }
        } else {
            let first = group % parts * args.length;
            let end = min(first + args.length, args.samples);
            for (var i = first + lane; i < end; i += WG) {
                sum = both(sum, terms(channel, i));
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
            if (STAGE == JOIN) {
                let mean = pair_product(line.xy, args.weights.xy, args.one);
                line = vec4<f32>(mean, pair_product(line.zw, args.weights.zw, args.one));
            }
            lines[group] = line;
        }
    }
}
