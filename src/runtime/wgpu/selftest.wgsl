// Does the low word of a compensated sum survive this driver's optimiser? See selftest.rs.

struct Arguments {
    zero: u32,
    one: f32,
    large: f32,
    small: f32,
}

@group(0) @binding(0) var<uniform> arguments: Arguments;
@group(0) @binding(1) var<storage, read_write> low: array<f32>;

@compute @workgroup_size(1)
fn main() {
    let a = arguments.large;
    let b = arguments.small;

    let s = bitcast<f32>(bitcast<u32>(a + b) ^ arguments.zero);
    low[0] = b - bitcast<f32>(bitcast<u32>(s - a) ^ arguments.zero);

    let f = fma(a, arguments.one, b);
    low[1] = b - fma(f, arguments.one, -a);
}
