// Frames as rows: each sample less its frame's line, times its weight; of a frame one row for each of its tapers. A thread
// makes four neighbouring samples.
//
// A kernel of its own, not the first load of the transform: overlapping frames share samples, a batch of rows stays in
// the caches, and the transform's many kernels need not be made again for each way to cut a signal.
// dspk:import shared/fold.wgsl
// dspk:import shared/frame.wgsl
// dspk:import shared/level.wgsl

const WG: u32 = 64u; // dspk:specialise 64
const WEIGHTED: u32 = 1u; // dspk:specialise 0 1

struct FramesArgs {
    cut: Cut,
    quads: u32, // of a row
    scale: f32, // where samples have no weights
    one: f32,
    tapers: u32, // of a frame
}

@group(0) @binding(0) var<uniform> args: FramesArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> weights: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> lines: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<vec4<f32>>;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let thread = flat_group(id, size) * WG + lane;
    if (thread >= args.cut.rows * args.tapers * args.quads) {
        return;
    }
    let row = thread / args.quads / args.tapers;
    let quad = thread % args.quads;
    let frame = frame_of(row);
    var v: vec4<f32>;
    let begin = frame.start + i32(4u * quad);
    if (begin >= 0 && begin + 3 < i32(args.cut.samples)) {
        let at = frame.signal + u32(begin);
        v = vec4<f32>(x[at], x[at + 1u], x[at + 2u], x[at + 3u]);
    } else {
        v = vec4<f32>(
            sample(frame.signal, begin),
            sample(frame.signal, begin + 1),
            sample(frame.signal, begin + 2),
            sample(frame.signal, begin + 3),
        );
    }
    // dspk:fold
    if (DETREND > 0u) {
        let line = lines[row];
        let i = 4u * quad;
        v = vec4<f32>(level(v.x, line, i), level(v.y, line, i + 1u), level(v.z, line, i + 2u), level(v.w, line, i + 3u));
    }
    // dspk:fold
    if (WEIGHTED == 1u) {
        v *= weights[thread % (args.tapers * args.quads)];
    } else {
        v *= args.scale;
    }
    let i = vec4<u32>(4u * quad) + vec4<u32>(0u, 1u, 2u, 3u);
    y[thread] = select(vec4<f32>(0.0), v, i < vec4<u32>(args.cut.nperseg));
}
