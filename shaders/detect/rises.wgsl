// Where a channel has risen and does not rise on: 1 at samples that are above the one before and at least as high as the
// next, 0 at others, at both ends and beside NaN. What every peak begins with.
//
// Values are compared as integers of the same order, so that denormals count, too.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u; // dspk:tune 8 32 64 128

struct RisesArgs {
    channels: u32,
    pitch4: u32,
    samples: u32,
    unused: u32,
}

@group(0) @binding(0) var<uniform> args: RisesArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;

// Both zeros are the same number; all that is NaN has no place in the order.
const NO_NUMBER: i32 = -0x7fffffff - 1;

fn place(v: f32) -> i32 {
    let bits = bitcast<i32>(v);
    let size = bits & 0x7fffffff;
    let signed = select(size, -size, bits < 0);
    return select(signed, NO_NUMBER, size > 0x7f800000);
}

fn below(a: i32, b: i32) -> bool {
    return a < b && a != NO_NUMBER;
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
    let row = thread / args.pitch4 * args.pitch4 * 4u;
    let n = thread % args.pitch4 * 4u;
    var places: array<i32, 6>;
    // dspk:unroll
    for (var i = 0u; i < 6u; i++) {
        let at = min(max(n + i, 1u) - 1u, args.pitch4 * 4u - 1u);
        places[i] = place(x[row + at]);
    }
    var flags = vec4<f32>(0.0);
    // dspk:unroll
    for (var i = 0u; i < 4u; i++) {
        let inner = n + i > 0u && n + i + 1u < args.samples;
        let risen = below(places[i], places[i + 1u]) && !below(places[i + 1u], places[i + 2u]) && places[i + 2u] != NO_NUMBER;
        flags[i] = select(0.0, 1.0, inner && risen);
    }
    y[thread] = flags;
}
