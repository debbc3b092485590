// The states of a cascade after an endless run of a value, as `filter/sosfilt.wgsl` keeps them.
// dspk:import shared/fold.wgsl
// dspk:import shared/double_single.wgsl

const WG: u32 = 32u;
const SECTIONS: u32 = 2u; // dspk:specialise 1..16

struct SteadyArgs {
    channels: u32,
    pitch: u32, // of the values
    at: u32, // which of a row
    less: f32, // times the offset is taken from the value
    one: f32, // 1, known at run time only
    unused_a: u32,
    unused_b: u32,
    unused_c: u32,
}

@group(0) @binding(0) var<uniform> args: SteadyArgs;
@group(0) @binding(1) var<uniform> steady: array<vec4<f32>, SECTIONS>; // for a value of 1: w1, its low part, w2, its low part
@group(0) @binding(2) var<storage, read> values: array<f32>;
@group(0) @binding(3) var<storage, read> offsets: array<f32>;
@group(0) @binding(4) var<storage, read_write> states: array<vec4<f32>>;

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
    let value = vec2<f32>(values[channel * args.pitch + args.at] - args.less * offsets[channel], 0.0);
    for (var s = 0u; s < SECTIONS; s++) {
        let first = pair_product(steady[s].xy, value, args.one);
        let second = pair_product(steady[s].zw, value, args.one);
        states[s * args.channels + channel] = vec4<f32>(first, second);
    }
}
