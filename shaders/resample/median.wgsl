// Medians of whole channels, digit by digit of order-preserving keys, the highest first: a work group counts, in a part of a
// channel, the values of each next digit among those that begin as the middle ones do; a second launch picks the digits of
// both middle values. Counting selects and computes nothing, so the median has the bits of a sample, or of the mean of two.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u;
const PICK: u32 = 0u; // dspk:specialise 0 1
const DIGITS: u32 = 16u;
const ROW: u32 = 2u * DIGITS + 1u; // counts of a part for both middle values, and of NaNs
const TOP: u32 = 28u; // where the highest digit stands

struct MedianArgs {
    channels: u32,
    pitch: u32,
    samples: u32, // of the segment
    length: u32, // of a part
    here: u32, // parts of the segment
    first: u32, // the segment's first one
    parts: u32, // of a channel
    shift: u32, // of the digit
    lower: u32, // ranks of the middle values
    upper: u32,
    unused0: u32,
    unused1: u32,
}

// The digits of a middle value so far, and its rank among those that share them.
struct Middle {
    digits: vec2<u32>,
    rank: vec2<u32>,
}

@group(0) @binding(0) var<uniform> args: MedianArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> middles: array<Middle>;
@group(0) @binding(4) var<storage, read_write> levels: array<f32>;

// A row of counts for each lane.
var<workgroup> shared_counts: array<u32, WG * ROW>;

fn value(key: u32) -> f32 {
    return bitcast<f32>(key ^ select(0xffffffffu, 0x80000000u, (key >> 31u) == 1u));
}

fn pick_digits(channel: u32) {
    var m: Middle;
    if (args.shift == TOP) {
        m.digits = vec2<u32>(0u);
        m.rank = vec2<u32>(args.lower, args.upper);
    } else {
        m = middles[channel];
    }
    // dspk:unroll
    for (var r = 0u; r < 2u; r++) {
        var digit = 0u;
        while (digit < DIGITS - 1u && m.rank[r] >= shared_counts[r * DIGITS + digit]) {
            m.rank[r] -= shared_counts[r * DIGITS + digit];
            digit += 1u;
        }
        m.digits[r] = m.digits[r] * DIGITS + digit;
    }
    middles[channel] = m;
    if (args.shift == 0u) {
        let level = 0.5 * value(m.digits.x) + 0.5 * value(m.digits.y);
        let finite = (bitcast<u32>(level) & 0x7fffffffu) < 0x7f800000u && shared_counts[ROW - 1u] == 0u;
        levels[channel] = bitcast<f32>(select(0x7fc00000u, bitcast<u32>(level), finite));
    }
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = flat_group(id, size);
    let parts_here = select(args.here, 1u, PICK == 1u);
    if (group >= args.channels * parts_here) {
        return;
    }
    let channel = group / parts_here;
    // dspk:fold
    if (PICK == 1u) {
        if (lane < ROW) {
            var sum = 0u;
            for (var part = 0u; part < args.parts; part++) {
                sum += counts[(channel * args.parts + part) * ROW + lane];
            }
            shared_counts[lane] = sum;
        }
        workgroupBarrier();
        if (lane == 0u) {
            pick_digits(channel);
        }
    } else {
        for (var i = 0u; i < ROW; i++) {
            shared_counts[lane * ROW + i] = 0u;
        }
        var begun = vec2<u32>(0u);
        if (args.shift < TOP) {
            begun = middles[channel].digits;
        }
        let row = channel * args.pitch;
        let first = group % parts_here * args.length;
        let end = min(first + args.length, args.samples);
        for (var i = first + lane; i < end; i += WG) {
            let b = bitcast<u32>(x[row + i]);
            let key = b ^ select(0x80000000u, 0xffffffffu, (b >> 31u) == 1u);
            let digit = (key >> args.shift) % DIGITS;
            // Two shifts, since one by all 32 bits is none.
            let before = ((key >> args.shift) >> 4u);
            if (before == begun.x) {
                shared_counts[lane * ROW + digit] += 1u;
            }
            if (before == begun.y) {
                shared_counts[lane * ROW + DIGITS + digit] += 1u;
            }
            if ((b & 0x7fffffffu) > 0x7f800000u) {
                shared_counts[lane * ROW + ROW - 1u] += 1u;
            }
        }
        workgroupBarrier();
        if (lane < ROW) {
            var sum = 0u;
            for (var other = 0u; other < WG; other++) {
                sum += shared_counts[other * ROW + lane];
            }
            counts[(channel * args.parts + args.first + group % parts_here) * ROW + lane] = sum;
        }
    }
}
