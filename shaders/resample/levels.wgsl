// Levels of channels: mean, largest or smallest value. A work group takes a part of a channel, a second launch joins the
// parts. Sums are pairs of floats. A NaN makes the level one, and so does a level that is not finite.
// dspk:import shared/fold.wgsl
// dspk:import shared/double_single.wgsl

const WG: u32 = 64u;
const KIND: u32 = 0u; // dspk:specialise 0..2
const JOIN: u32 = 0u; // dspk:specialise 0 1

// KIND, beside the mean
const LARGEST: u32 = 1u;

struct LevelsArgs {
    channels: u32,
    pitch: u32,
    samples: u32, // of the segment
    length: u32, // of a part
    here: u32, // parts of the segment
    first: u32, // the segment's first one
    parts: u32, // of a channel
    one: f32,
    // 1 / n, as a pair.
    share: vec2<f32>,
    unused: vec2<u32>,
}

@group(0) @binding(0) var<uniform> args: LevelsArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> parts: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> levels: array<f32>;

var<workgroup> shared_parts: array<vec2<f32>, WG>;

fn not_a_number(v: f32) -> bool {
    return (bitcast<u32>(v) & 0x7fffffffu) > 0x7f800000u;
}

fn both(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    // dspk:fold
    if (KIND == 0u) {
        return pair_sum(a, b, args.one);
    } else {
        var second = b.x > a.x;
        // dspk:fold
        if (KIND != LARGEST) {
            second = b.x < a.x;
        }
        return select(a, b, !not_a_number(a.x) && (not_a_number(b.x) || second));
    }
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = flat_group(id, size);
    let parts_here = select(args.here, 1u, JOIN == 1u);
    if (group >= args.channels * parts_here) {
        return;
    }
    let channel = group / parts_here;
    var some: vec2<f32>;
    // dspk:fold
    if (JOIN == 1u) {
        some = parts[channel * args.parts];
        // dspk:fold
        if (KIND == 0u) {
            some = vec2<f32>(0.0);
        }
        for (var part = lane; part < args.parts; part += WG) {
            some = both(some, parts[channel * args.parts + part]);
        }
    } else {
        let row = channel * args.pitch;
        let first = group % parts_here * args.length;
        let end = min(first + args.length, args.samples);
        some = vec2<f32>(x[row + first], 0.0);
        // dspk:fold
        if (KIND == 0u) {
            some = vec2<f32>(0.0);
        }
        for (var i = first + lane; i < end; i += WG) {
            some = both(some, vec2<f32>(x[row + i], 0.0));
        }
    }
    shared_parts[lane] = some;
    workgroupBarrier();
    for (var span = WG / 2u; span > 0u; span /= 2u) {
        if (lane < span) {
            shared_parts[lane] = both(shared_parts[lane], shared_parts[lane + span]);
        }
        workgroupBarrier();
    }
    if (lane == 0u) {
        some = shared_parts[0];
        // dspk:fold
        if (JOIN == 1u) {
            // dspk:fold
            if (KIND == 0u) {
                some = pair_product(some, args.share, args.one);
            }
            let level = some.x + some.y;
            let finite = (bitcast<u32>(level) & 0x7fffffffu) < 0x7f800000u;
            levels[channel] = bitcast<f32>(select(0x7fc00000u, bitcast<u32>(level), finite));
        } else {
            parts[channel * args.parts + args.first + group % parts_here] = some;
        }
    }
}
