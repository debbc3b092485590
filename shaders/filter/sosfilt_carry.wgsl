// The states in which blocks begin, from those to which they lead from zero: one thread for each group of blocks. See
// filter/sosfilt_blocks.wgsl.
//
// With the states s, and e where a block leads from zero, the next block begins in A s + e, where A is the power of the
// cascade's transition that a block makes, in pairs of floats. No section depends on those after it. A launch with ENDS
// starts each group but the last of a row from zero and keeps where that leads: those are blocks of a coarser row.
// dspk:import shared/fold.wgsl
// dspk:import shared/double_single.wgsl

const WG: u32 = 32u;
const SECTIONS: u32 = 2u; // dspk:specialise 1..16
const ENDS: u32 = 0u; // dspk:specialise 0 1
const ENTRIES: u32 = 2u * SECTIONS * SECTIONS;

struct CarryArgs {
    rows: u32,
    blocks: u32, // of a row
    groups: u32, // of a row
    group: u32, // blocks of a group
    one: f32, // 1, known at run time only
    unused_a: u32,
    unused_b: u32,
    unused_c: u32,
}

@group(0) @binding(0) var<uniform> args: CarryArgs;
// Row after row, two columns at a time: an entry, its low part, the next one, its low part.
@group(0) @binding(1) var<uniform> power: array<vec4<f32>, ENTRIES>;
@group(0) @binding(2) var<storage, read_write> carried: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> starts: array<vec4<f32>>; // of each group; with ENDS where it leads

fn product(row: u32, column: u32, state: vec4<f32>) -> vec2<f32> {
    let a = power[row * SECTIONS + column];
    return pair_sum(pair_product(a.xy, state.xy, args.one), pair_product(a.zw, state.zw, args.one), args.one);
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let every_group = args.rows * args.groups;
    let every_block = args.rows * args.blocks;
    let at = flat_group(id, size) * WG + lane;
    if (at >= every_group) {
        return;
    }
    let row = at / args.groups;
    let group = at - row * args.groups;
    if (ENDS == 1u && group + 1u == args.groups) {
        return;
    }
    var state: array<vec4<f32>, SECTIONS>;
    if (ENDS == 0u) {
        for (var s = 0u; s < SECTIONS; s++) {
            state[s] = starts[s * every_group + at];
        }
    }
    let first = group * args.group;
    for (var b = first; b < min(first + args.group, args.blocks); b++) {
        var next: array<vec4<f32>, SECTIONS>;
        for (var s = 0u; s < SECTIONS; s++) {
            let place = s * every_block + row * args.blocks + b;
            var sum = carried[place];
            for (var c = 0u; c <= s; c++) {
                sum = vec4<f32>(
                    pair_sum(sum.xy, product(2u * s, c, state[c]), args.one),
                    pair_sum(sum.zw, product(2u * s + 1u, c, state[c]), args.one),
                );
            }
            if (ENDS == 0u) {
                carried[place] = state[s];
            }
            next[s] = sum;
        }
        state = next;
    }
    if (ENDS == 1u) {
        for (var s = 0u; s < SECTIONS; s++) {
            starts[s * every_group + at] = state[s];
        }
    }
}
