// Frames weighted, added where they overlap, and divided by the sum of their squared weights. A thread has one sample.
// Where a batch of frames ends within a channel, sums go on from what the last one has left.
// dspk:import shared/fold.wgsl
// dspk:import shared/double_single.wgsl

const WG: u32 = 64u; // dspk:specialise 64
const WEIGHTED: u32 = 1u; // dspk:specialise 0 1

struct OverlapArgs {
    channels: u32,
    frames: u32, // of a channel in this batch
    first_channel: u32,
    first_frame: u32,
    all_frames: u32, // of a channel
    row: u32, // values between frames
    nperseg: u32,
    step: u32,
    first: u32, // sample of this batch
    count: u32, // of samples of this batch, padding included
    crop: u32, // samples of the sum before the first of the result
    length: u32, // of the result
    pitch: u32, // of the result
    scale: f32, // where samples have no weights
    one: f32,
    unused: u32,
}

@group(0) @binding(0) var<uniform> args: OverlapArgs;
@group(0) @binding(1) var<storage, read> frames: array<f32>;
@group(0) @binding(2) var<storage, read> weights: array<f32>;
// What sums are multiplied by: where frames are missing before, by place in a step, and where they are missing behind.
@group(0) @binding(3) var<storage, read> norms: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

fn norm(at: u32) -> f32 {
    if (at + 1u >= args.nperseg && at < args.all_frames * args.step) {
        return norms[args.nperseg + at % args.step];
    }
    return norms[select(args.nperseg + args.step + at - args.all_frames * args.step, at, at + 1u < args.nperseg)];
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let thread = flat_group(id, size) * WG + lane;
    if (thread >= args.channels * args.count) {
        return;
    }
    let channel = thread / args.count;
    let n = args.first + thread % args.count;
    let place = (args.first_channel + channel) * args.pitch + n;
    if (n >= args.length) {
        // Padding is finite.
        y[place] = 0.0;
        return;
    }
    let at = args.crop + n;
    let reach = max(at + 1u, args.nperseg) - args.nperseg;
    let begin = (reach + args.step - 1u) / args.step;
    let end = min(at / args.step + 1u, args.all_frames);
    let batch_end = args.first_frame + args.frames;
    var sum = vec2<f32>(0.0);
    if (begin < args.first_frame) {
        sum.x = y[place];
    }
    for (var frame = max(begin, args.first_frame); frame < min(end, batch_end); frame++) {
        let i = at - frame * args.step;
        var v = frames[(channel * args.frames + frame - args.first_frame) * args.row + i];
        // dspk:fold
        if (WEIGHTED == 1u) {
            v *= weights[i];
        } else {
            v *= args.scale;
        }
        sum = pair_sum(sum, vec2<f32>(v, 0.0), args.one);
    }
    y[place] = select(sum.x, sum.x * norm(at), end <= batch_end);
}
