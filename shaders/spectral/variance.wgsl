// Sums of squares of frames less their lines, those of long frames in parts.
//
// A work group sums a part, in pairs of floats.
// dspk:import shared/fold.wgsl
// dspk:import shared/frame.wgsl
// dspk:import shared/level.wgsl

const WG: u32 = 8u; // dspk:specialise 8 64

struct VarianceArgs {
    cut: Cut,
    parts: u32, // of a frame
    length: u32, // of a part
    scale: f32, // of samples
    one: f32,
}

@group(0) @binding(0) var<uniform> args: VarianceArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> lines: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> sums: array<f32>;

var<workgroup> shared_sums: array<vec2<f32>, WG>;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = flat_group(id, size);
    if (group >= args.cut.rows * args.parts) {
        return;
    }
    let row = group / args.parts;
    let frame = frame_of(row);
    let first = group % args.parts * args.length;
    let end = min(first + args.length, args.cut.nperseg);
    var sum = vec2<f32>(0.0);
    for (var i = first + lane; i < end; i += WG) {
        var v = sample(frame.signal, frame.start + i32(i));
        // dspk:fold
        if (DETREND > 0u) {
            v = level(v, lines[row], i);
        }
        v *= args.scale;
        sum = pair_sum(sum, vec2<f32>(v * v, 0.0), args.one);
    }
    shared_sums[lane] = sum;
    workgroupBarrier();
    for (var span = WG / 2u; span > 0u; span /= 2u) {
        if (lane < span) {
            shared_sums[lane] = pair_sum(shared_sums[lane], shared_sums[lane + span], args.one);
        }
        workgroupBarrier();
    }
    if (lane == 0u) {
        sums[group] = shared_sums[0].x;
    }
}
