// Cascade of second-order sections, one thread for each block of each channel.
//
// A launch with ENDS runs every block but the last of a channel from zero state and keeps where that leads. Then
// filter/sosfilt_carry.wgsl puts into the place of these the states in which blocks begin, and a launch without ENDS
// filters them. Blocks are a line of the cache shorter than a power of two: neighbouring threads would meet in the same
// sets of it.
// dspk:import shared/fold.wgsl
// dspk:import shared/cascade.wgsl

const WG: u32 = 64u; // dspk:tune 8 64
const BLOCK: u32 = 1008u; // dspk:tune 240 1008 4080
const ENDS: u32 = 0u; // dspk:specialise 0 1
const IN_PLACE: u32 = 0u; // dspk:specialise 0 1

struct BlockArgs {
    channels: u32,
    blocks: u32, // of a channel
    pitch4: u32,
    samples: u32,
    subtracts: f32, // 1 where the offset is removed from the input
    gain: f32, // what a removed offset comes out as
    one: f32, // 1, known at run time only
    unused_a: u32,
}

@group(0) @binding(0) var<uniform> args: BlockArgs;
@group(0) @binding(1) var<uniform> sections: array<Section, SECTIONS>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> offsets: array<f32>;
@group(0) @binding(4) var<storage, read_write> carried: array<vec4<f32>>; // a row for each section, a value for each block
@group(0) @binding(5) var<storage, read_write> states: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> y: array<vec4<f32>>;

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
    let all = args.channels * args.blocks;
    let row = flat_group(id, size) * WG + lane;
    if (row >= all) {
        return;
    }
    let channel = row / args.blocks;
    let block = row - channel * args.blocks;
    let last = block + 1u == args.blocks;
    if (ENDS == 1u && last) {
        return;
    }
    let removed = offsets[channel];
    let offset = removed * args.subtracts;
    let samples = min(BLOCK, args.samples - block * BLOCK);
    var state: array<vec4<f32>, SECTIONS>;
    if (ENDS == 0u) {
        // dspk:unroll
        for (var s = 0u; s < SECTIONS; s++) {
            state[s] = carried[s * all + row];
        }
    }
    var at = channel * args.pitch4 + block * (BLOCK / 4u);
    for (var i = 0u; i < samples / 4u; i++) {
        let v = input(at);
        var result: vec4<f32>;
        // dspk:unroll
        for (var j = 0u; j < 4u; j++) {
            result[j] = filtered(v[j], offset, &state);
        }
        if (ENDS == 0u) {
            y[at] = fma(vec4<f32>(args.gain), vec4<f32>(removed), result);
        }
        at++;
    }
    if (ENDS == 1u) {
        // dspk:unroll
        for (var s = 0u; s < SECTIONS; s++) {
            carried[s * all + row] = state[s];
        }
        return;
    }
    let tail = samples % 4u;
    if (tail > 0u) {
        let v = input(at);
        var result = vec4<f32>(0.0);
        for (var j = 0u; j < tail; j++) {
            let out = fma(args.gain, removed, filtered(v[j], offset, &state));
            result = select(result, vec4<f32>(out), vec4<u32>(0u, 1u, 2u, 3u) == vec4<u32>(j));
        }
        y[at] = result;
        at++;
    }
    if (last) {
        // What lies after the last sample must be finite.
        for (; at < (channel + 1u) * args.pitch4; at++) {
            y[at] = vec4<f32>(0.0);
        }
        // dspk:unroll
        for (var s = 0u; s < SECTIONS; s++) {
            states[s * args.channels + channel] = state[s];
        }
    }
}
