use super::*;

const TEXT: &str = "// dspk:import shared/fold.wgsl
const R: u32 = 2u; // dspk:tune 1 2 4
const SECTIONS: u32 = 1u; // dspk:specialise 1..3
const_assert R * SECTIONS < 12u;
alias Lanes = vec2<f32>; // dspk:vector R
struct Args { count: u32 }
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<Lanes>;
@group(0) @binding(2) var<storage, read_write> y: array<Lanes>;
var<workgroup> tile: array<Lanes, 64>;
// A comment.
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>) {
    let at = flat_group(id, count);
    if (at >= args.count) { return; }
    var sum = Lanes(0.0);
    // dspk:unroll
    for (var i = 0u; i < SECTIONS; i++) {
        sum += x[at + i];
    }
    tile[0] = sum;
    y[at] = tile[0];
}
";

fn kernel(
    text: &'static str,
    tunables: &[(&'static str, u32)],
    specials: &[(&'static str, u32)],
) -> Result<Arc<Kernel>> {
    let source = Source { name: "test", text };
    compose(&source, &tunables.iter().copied().collect(), &specials.iter().copied().collect())
}

#[test]
fn settings_imports_and_reflection() {
    let k = kernel(TEXT, &[("R", 4)], &[("SECTIONS", 2)]).unwrap();
    assert!(k.text.contains("fn flat_group") && k.text.contains("alias Lanes = vec4<f32>;"), "{}", k.text);
    assert!(k.text.contains("x[at + 0u]") && k.text.contains("x[at + 1u]") && !k.text.contains("x[at + 2u]"));
    assert!(!k.text.contains("//"));
    assert_eq!((k.group_size, k.group_bytes, k.subgroups), (64, 1024, false));
    let bindings: Vec<_> = k.bindings.iter().map(|b| (b.name.as_str(), b.access, b.min_bytes)).collect();
    use crate::kernel::Access::*;
    assert_eq!(bindings, [("args", Uniform, 4), ("x", Read, 16), ("y", ReadWrite, 16)]);
}

#[test]
fn same_settings_give_the_same_kernel() {
    let (a, b, c) = (kernel(TEXT, &[], &[]), kernel(TEXT, &[], &[]), kernel(TEXT, &[("R", 1)], &[]));
    let (a, b, c) = (a.unwrap(), b.unwrap(), c.unwrap());
    assert!(Arc::ptr_eq(&a, &b));
    assert_ne!(a.hash, c.hash);
    assert!(c.text.contains("alias Lanes = f32;"));
}

#[test]
fn enumerates_the_space() {
    let source = Source { name: "test", text: TEXT };
    let [r] = &tunables(&source).unwrap()[..] else { panic!("one tunable") };
    assert_eq!((r.name, r.default, &r.legal[..]), ("R", 2, &[1, 2, 4][..]));
    assert_eq!(specialisations(&source).unwrap()[0].legal, [1, 2, 3]);
}

#[test]
fn identity_follows_the_text_but_not_its_comments() {
    let id = |text| space_identity(&[&Source { name: "test", text }]);
    assert_eq!(id(TEXT), id(Box::leak(TEXT.replace("A comment.", "Another.").into_boxed_str())));
    assert_ne!(id(TEXT), id(Box::leak(TEXT.replace("1 2 4", "1 2").into_boxed_str())));
    assert_ne!(id(TEXT), id(Box::leak(TEXT.replace("sum += x", "sum -= x").into_boxed_str())));
}

#[test]
fn faults_name_file_and_line() {
    let edited = |from: &str, to: &str| -> &'static str { Box::leak(TEXT.replacen(from, to, 1).into_boxed_str()) };
    for (text, place, what) in [
        (edited("import shared/fold", "import shared/none"), "test.wgsl:1:", "shared/none"),
        (edited("import shared/fold", "import filter/fir"), "test.wgsl:1:", "filter/fir"),
        (edited("dspk:tune", "dspk:tuna"), "test.wgsl:2:", "dspk:tuna"),
        (edited("// A comment.", "// dspk:unroll 4"), "test.wgsl:11:", "used wrongly"),
        (edited("= 2u; // dspk:tune", "= 3u; // dspk:tune"), "test.wgsl:2:", "default 3"),
        (edited("= 2u; // dspk:tune", "= 1u + 1u; // dspk:tune"), "test.wgsl:2:", "plain unsigned"),
        (edited("1..3", "3..1"), "test.wgsl:3:", "3..1"),
        (edited("const_assert R * SECTIONS < 12u;", "const R: u32 = 1u; // dspk:tune 1"), "test.wgsl:4:", "twice"),
        (edited("vector R", "vector Q"), "test.wgsl:5:", "`Q`"),
        (edited("i < SECTIONS", "i < args.count"), "test.wgsl:18:", "not a constant"),
        (edited("x[at + i]", "z[at + i]"), "test.wgsl:19:", "z"),
        (edited("y[at] = tile[0]", "y[at] = 1u"), "test.wgsl:22:", ""),
        (edited("@binding(2)", "@binding(3)"), "test.wgsl", "binding 2"),
        (edited("@group(0) @binding(2)", "@group(1) @binding(2)"), "test.wgsl", "group 0"),
        (edited("fn main", "fn other"), "test.wgsl", "other"),
        (edited("size(64)", "size(8, 8)"), "test.wgsl", "one-dimensional"),
    ] {
        let message = kernel(text, &[], &[]).unwrap_err().to_string();
        assert!(message.contains(place) && message.contains(what), "{message}");
    }
}

#[test]
fn settings_are_checked() {
    for (tunables, specials, what) in [
        (&[("R", 3)][..], &[][..], "[1, 2, 4]"),
        (&[("Q", 1)][..], &[][..], "no setting `Q`"),
        (&[("SECTIONS", 1)][..], &[][..], "no setting `SECTIONS`"),
        (&[][..], &[("SECTIONS", 4)][..], "[1, 2, 3]"),
        (&[("R", 4)][..], &[("SECTIONS", 3)][..], "test.wgsl:4:"),
    ] {
        let e = kernel(TEXT, tunables, specials).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Kernel);
        assert!(e.to_string().contains(what), "{e}");
    }
}
