// Spectra of frames as lines of one frequency with the frames side by side, straight from samples: S frames are freed of
// their lines, weighted and transformed in work-group memory (shared/spectra.wgsl), and written from there.
// dspk:import shared/fold.wgsl
// dspk:import shared/kept.wgsl
// dspk:import shared/spectra.wgsl

struct LocalArgs {
    cut: Cut,
    scale: f32,
    one: f32,
    nfft: u32,
    pitch: u32, // values between channels of lines
    length: u32, // values of a channel of lines
    unused_a: u32,
    unused_b: u32,
    unused_c: u32,
    line: vec4<f32>,
}

@group(0) @binding(0) var<uniform> args: LocalArgs;
@group(0) @binding(1) var<storage, read> roots: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read> wide: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> weights: array<f32>;
@group(0) @binding(4) var<storage, read> x: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<Out>;

// Values i and POINTS - i of a frame.
fn write(lines: u32, i: u32, pair: vec4<f32>) {
    put(lines + i * args.cut.frames, kept(pair.xy, i));
    // dspk:fold
    if (SPLIT == 1u) {
        put(lines + (POINTS - i) * args.cut.frames, kept(pair.zw, POINTS - i));
    }
}

@compute @workgroup_size(S * T)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = flat_group(id, size);
    if (group * S >= args.cut.rows) {
        return;
    }
    // Indices count values of bindings, below 2^30.
    let lies = along(lane);
    var v: Points;
    var w: Points;
    weigh(&w, lies.y);
    gather(&v, &w, frame_of(min(group * S + lies.x, args.cut.rows - 1u)), lies.x, lies.y);
    transform(&v, group, lane);
    // Without FACING neighbours take neighbouring frames.
    let to = select(across(lane), lies, FACING == 1u);
    let row = group * S + to.x;
    if (row >= args.cut.rows) {
        return;
    }
    let frame = row % args.cut.frames;
    let lines = row / args.cut.frames * args.pitch + frame;
    // dspk:fold
    if (FACING == 1u) {
        // dspk:unroll
        for (var b = 0u; b < FACED; b++) {
            let i = faced(b, to.y);
            if (i < POINTS) {
                write(lines, i, faced_values(&v, b, to.y, i, root(i)));
            }
        }
    } else {
        for (var i = to.y; i <= POINTS / 2u; i += T) {
            write(lines, i, values(to.x, i, root(i)));
        }
    }
    if (frame + 1u == args.cut.frames) {
        // Padding is finite.
        for (var at = args.length + to.y; at < args.pitch; at += T) {
            put(lines - frame + at, vec2<f32>(0.0));
        }
    }
}
