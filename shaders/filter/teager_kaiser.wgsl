// Teager-Kaiser energy: y[n] = x[n]^2 - x[n - lag] x[n + lag], with the samples around the segment in a halo. Results within
// `lag` of an end of the channel are that of the nearest sample which has both neighbours.
//
// The products are pairs of floats: their difference can be far smaller than either.
// dspk:import shared/fold.wgsl
// dspk:import shared/double_single.wgsl

const WG: u32 = 64u; // dspk:tune 8 32 64 128

struct EnergyArgs {
    channels: u32,
    pitch4: u32,
    samples: u32, // of the segment
    start: u32, // of the segment
    total: u32, // samples of the channel
    lag: u32,
    halo: u32, // samples around the segment for each channel
    left: u32, // of them before it
    one: f32,
    unused_a: u32,
    unused_b: u32,
    unused_c: u32,
}

@group(0) @binding(0) var<uniform> args: EnergyArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> halo: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;

// Sample n of a channel, counted from the segment's first.
fn sample(channel: u32, n: i32) -> f32 {
    if (n >= 0 && n < i32(args.samples)) {
        return x[channel * args.pitch4 * 4u + u32(n)];
    }
    let at = select(i32(args.left) + n - i32(args.samples), n + i32(args.left), n < 0);
    return halo[channel * args.halo + u32(clamp(at, 0, i32(args.halo) - 1))];
}

fn energy(channel: u32, n: u32) -> f32 {
    // The padding of a row repeats its last result.
    let own = args.start + min(n, args.samples - 1u);
    let place = i32(clamp(own, args.lag, args.total - 1u - args.lag)) - i32(args.start);
    let middle = vec2<f32>(sample(channel, place), 0.0);
    let before = vec2<f32>(sample(channel, place - i32(args.lag)), 0.0);
    let after = vec2<f32>(sample(channel, place + i32(args.lag)), 0.0);
    let square = pair_product(middle, middle, args.one);
    let product = pair_product(before, after, args.one);
    let both = pair_sum(square, -product, args.one);
    let value = both.x + both.y;
    // The low words of infinite products are NaN.
    let plain = middle.x * middle.x - before.x * after.x;
    return select(value, plain, (bitcast<u32>(value) & 0x7f800000u) == 0x7f800000u);
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let thread = flat_group(id, size) * WG + lane;
    if (thread >= args.channels * args.pitch4) {
        return;
    }
    let channel = thread / args.pitch4;
    let n = thread % args.pitch4 * 4u;
    y[thread] = vec4<f32>(
        energy(channel, n),
        energy(channel, n + 1u),
        energy(channel, n + 2u),
        energy(channel, n + 3u),
    );
}
