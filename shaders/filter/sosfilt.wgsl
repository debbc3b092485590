// Cascade of second-order sections, one thread for each channel.
// dspk:import shared/fold.wgsl
// dspk:import shared/cascade.wgsl

const WG: u32 = 32u; // dspk:tune 8 32 64
const IN_PLACE: u32 = 0u; // dspk:specialise 0 1

struct SosArgs {
    channels: u32,
    pitch4: u32,
    start4: u32, // of this window, in vectors
    steps: u32, // whole vectors; drivers stop loops at 65,535 rounds
    tail: u32, // samples after them
    subtracts: f32, // 1 where the offset is removed from the input
    gain: f32, // what a removed offset comes out as
    one: f32, // 1, known at run time only
    rest4: u32, // vectors between the last sample and the end of the row, in the last window
    unused_a: u32,
    unused_b: u32,
    unused_c: u32,
}

@group(0) @binding(0) var<uniform> args: SosArgs;
@group(0) @binding(1) var<uniform> sections: array<Section, SECTIONS>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> offsets: array<f32>;
@group(0) @binding(4) var<storage, read_write> states: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> y: array<vec4<f32>>;

fn input(at: u32) -> vec4<f32> {
    if (IN_PLACE == 1u) {
        return y[at];
    }
    return x[at];
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let channel = flat_group(id, size) * WG + lane;
    if (channel >= args.channels) {
        return;
    }
    let removed = offsets[channel];
    let offset = removed * args.subtracts;
    var state: array<vec4<f32>, SECTIONS>;
    // dspk:unroll
    for (var s = 0u; s < SECTIONS; s++) {
        state[s] = states[s * args.channels + channel];
    }
    // Indices count vectors of a segment, which a binding's size keeps below 2^28.
    var at = channel * args.pitch4 + args.start4;
    for (var i = 0u; i < args.steps; i++) {
        let v = input(at);
        var result: vec4<f32>;
        // dspk:unroll
        for (var j = 0u; j < 4u; j++) {
            result[j] = filtered(v[j], offset, &state);
        }
        y[at] = fma(vec4<f32>(args.gain), vec4<f32>(removed), result);
        at++;
    }
    if (args.tail > 0u) {
        let v = input(at);
        var result = vec4<f32>(0.0);
        for (var j = 0u; j < args.tail; j++) {
            let out = fma(args.gain, removed, filtered(v[j], offset, &state));
            result = select(result, vec4<f32>(out), vec4<u32>(0u, 1u, 2u, 3u) == vec4<u32>(j));
        }
        y[at] = result;
        at++;
    }
    // What lies after the last sample must be finite.
    for (var i = 0u; i < args.rest4; i++) {
        y[at + i] = vec4<f32>(0.0);
    }
    // dspk:unroll
    for (var s = 0u; s < SECTIONS; s++) {
        states[s * args.channels + channel] = state[s];
    }
}
