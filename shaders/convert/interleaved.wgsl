// int16 [samples, channels] to scaled float32 [channels, samples], for channel counts that are multiples of 8.
//
// A thread transposes 8 channels by 4 * STEPS samples in registers: one 16-byte load for each sample, one 16-byte store
// for each channel and four samples. Neighbouring threads are neighbours in time.
// dspk:import shared/fold.wgsl
// dspk:import shared/scale.wgsl

const WG: u32 = 16u; // dspk:tune 16 32 64 128
const STEPS: u32 = 2u; // dspk:tune 1 2 4

struct InterleavedArgs {
    channels: u32,
    samples: u32,
    pitch4: u32,
    tiles: u32, // groups of WG threads along a row
    scale: Scale,
    one: f32, // 1.0
    unused_c: u32,
    unused_d: u32,
    unused_e: u32,
}

@group(0) @binding(0) var<uniform> args: InterleavedArgs;
@group(0) @binding(1) var<storage, read> scales: array<Scale>;
@group(0) @binding(2) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = flat_group(id, size);
    let octets = args.channels / 8u;
    let octet = group / args.tiles;
    let first4 = ((group % args.tiles) * WG + lane) * STEPS;
    if (octet >= octets || first4 >= args.pitch4) {
        return;
    }
    var channel_scales: array<Scale, 8>;
    // dspk:unroll
    for (var c = 0u; c < 8u; c++) {
        channel_scales[c] = args.scale;
        if (MODE == 2u) {
            channel_scales[c] = scales[octet * 8u + c];
        }
    }
    // dspk:unroll
    for (var k = 0u; k < STEPS; k++) {
        let at4 = first4 + k;
        var words: array<vec4<u32>, 4>;
        // dspk:unroll
        for (var j = 0u; j < 4u; j++) {
            words[j] = x[min(at4 * 4u + j, args.samples - 1u) * octets + octet];
        }
        if (at4 < args.pitch4) {
            // dspk:unroll
            for (var p = 0u; p < 4u; p++) {
                let pair = vec4<u32>(words[0][p], words[1][p], words[2][p], words[3][p]);
                let channel = octet * 8u + 2u * p;
                y[channel * args.pitch4 + at4] = scaled(lower(pair), channel_scales[2u * p], args.one);
                y[(channel + 1u) * args.pitch4 + at4] = scaled(upper(pair), channel_scales[2u * p + 1u], args.one);
            }
        }
    }
}
