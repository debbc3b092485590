// Start of a cascade: takes each channel's first sample as its offset and sets the states of a signal that has always
// been zero, seen from that offset: minus the steady state of a unit step times the offset.
// dspk:import shared/fold.wgsl
// dspk:import shared/double_single.wgsl

const WG: u32 = 32u;
const SECTIONS: u32 = 2u; // dspk:specialise 1..16

struct StartArgs {
    channels: u32,
    pitch: u32,
    removes_offset: u32,
    one: f32,
}

@group(0) @binding(0) var<uniform> args: StartArgs;
@group(0) @binding(1) var<uniform> steady: array<vec4<f32>, SECTIONS>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> offsets: array<f32>;
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
    let first = x[channel * args.pitch];
    let finite = (bitcast<u32>(first) & 0x7fffffffu) < 0x7f800000u;
    let offset = select(0.0, first, finite && args.removes_offset == 1u);
    offsets[channel] = offset;
    for (var s = 0u; s < SECTIONS; s++) {
        let v = steady[s];
        let a = pair_product(v.xy, vec2<f32>(-offset, 0.0), args.one);
        let b = pair_product(v.zw, vec2<f32>(-offset, 0.0), args.one);
        states[s * args.channels + channel] = vec4<f32>(a, b);
    }
}
