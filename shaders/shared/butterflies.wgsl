// Discrete Fourier transforms of a few points in registers, in place: those at `at + step * k` of `v`, result in order.
//
// The array type `Points` is the importing kernel's. Offsets and steps are literals where these are called, so that once
// a driver has put the functions in place every index is one.
// dspk:import shared/roots.wgsl

fn times(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    return vec2<f32>(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x));
}

// Times -i.
fn turned(v: vec2<f32>) -> vec2<f32> {
    return vec2<f32>(v.y, -v.x);
}

fn dft2(v: ptr<function, Points>, at: u32, step: u32) {
    let a = (*v)[at];
    let b = (*v)[at + step];
    (*v)[at] = a + b;
    (*v)[at + step] = a - b;
}

fn dft4(v: ptr<function, Points>, at: u32, step: u32) {
    let a = (*v)[at] + (*v)[at + 2u * step];
    let b = (*v)[at] - (*v)[at + 2u * step];
    let c = (*v)[at + step] + (*v)[at + 3u * step];
    let d = turned((*v)[at + step] - (*v)[at + 3u * step]);
    (*v)[at] = a + c;
    (*v)[at + step] = b + d;
    (*v)[at + 2u * step] = a - c;
    (*v)[at + 3u * step] = b - d;
}

fn dft8(v: ptr<function, Points>, at: u32, step: u32) {
    dft4(v, at, 2u * step);
    dft4(v, at + step, 2u * step);
    let h = vec2<f32>(0.70710678);
    let a = (*v)[at + step];
    let b = (*v)[at + 3u * step];
    let c = (*v)[at + 5u * step];
    let d = (*v)[at + 7u * step];
    let e = (*v)[at + 2u * step];
    let f = (*v)[at + 4u * step];
    let g = (*v)[at + 6u * step];
    let first = (*v)[at];
    let p = h * vec2<f32>(b.x + b.y, b.y - b.x);
    let q = turned(c);
    let r = h * vec2<f32>(d.y - d.x, -d.x - d.y);
    (*v)[at] = first + a;
    (*v)[at + 4u * step] = first - a;
    (*v)[at + step] = e + p;
    (*v)[at + 5u * step] = e - p;
    (*v)[at + 2u * step] = f + q;
    (*v)[at + 6u * step] = f - q;
    (*v)[at + 3u * step] = g + r;
    (*v)[at + 7u * step] = g - r;
}

fn dft3(v: ptr<function, Points>, at: u32, step: u32) {
    var a: array<vec2<f32>, 3u>; // a[k]: v[k] + v[3 - k] in the lower half, their difference in the upper
    // dspk:unroll
    for (var k = 1u; k < 2u; k++) {
        a[k] = (*v)[at + step * k] + (*v)[at + step * (3u - k)];
        a[3u - k] = (*v)[at + step * k] - (*v)[at + step * (3u - k)];
    }
    let first = (*v)[at];
    var sum = first;
    // dspk:unroll
    for (var k = 1u; k < 2u; k++) {
        sum += a[k];
        var even = first;
        var odd = vec2<f32>(0.0);
        // dspk:unroll
        for (var m = 1u; m < 2u; m++) {
            let w = ROOTS[3u + k * m % 3u];
            even = fma(vec2<f32>(w.x), a[m], even);
            odd = fma(vec2<f32>(w.y), a[3u - m], odd);
        }
        let side = vec2<f32>(-odd.y, odd.x);
        (*v)[at + step * k] = even + side;
        (*v)[at + step * (3u - k)] = even - side;
    }
    (*v)[at] = sum;
}

fn dft5(v: ptr<function, Points>, at: u32, step: u32) {
    var a: array<vec2<f32>, 5u>; // a[k]: v[k] + v[5 - k] in the lower half, their difference in the upper
    // dspk:unroll
    for (var k = 1u; k < 3u; k++) {
        a[k] = (*v)[at + step * k] + (*v)[at + step * (5u - k)];
        a[5u - k] = (*v)[at + step * k] - (*v)[at + step * (5u - k)];
    }
    let first = (*v)[at];
    var sum = first;
    // dspk:unroll
    for (var k = 1u; k < 3u; k++) {
        sum += a[k];
        var even = first;
        var odd = vec2<f32>(0.0);
        // dspk:unroll
        for (var m = 1u; m < 3u; m++) {
            let w = ROOTS[10u + k * m % 5u];
            even = fma(vec2<f32>(w.x), a[m], even);
            odd = fma(vec2<f32>(w.y), a[5u - m], odd);
        }
        let side = vec2<f32>(-odd.y, odd.x);
        (*v)[at + step * k] = even + side;
        (*v)[at + step * (5u - k)] = even - side;
    }
    (*v)[at] = sum;
}

fn dft7(v: ptr<function, Points>, at: u32, step: u32) {
    var a: array<vec2<f32>, 7u>; // a[k]: v[k] + v[7 - k] in the lower half, their difference in the upper
    // dspk:unroll
    for (var k = 1u; k < 4u; k++) {
        a[k] = (*v)[at + step * k] + (*v)[at + step * (7u - k)];
        a[7u - k] = (*v)[at + step * k] - (*v)[at + step * (7u - k)];
    }
    let first = (*v)[at];
    var sum = first;
    // dspk:unroll
    for (var k = 1u; k < 4u; k++) {
        sum += a[k];
        var even = first;
        var odd = vec2<f32>(0.0);
        // dspk:unroll
        for (var m = 1u; m < 4u; m++) {
            let w = ROOTS[21u + k * m % 7u];
            even = fma(vec2<f32>(w.x), a[m], even);
            odd = fma(vec2<f32>(w.y), a[7u - m], odd);
        }
        let side = vec2<f32>(-odd.y, odd.x);
        (*v)[at + step * k] = even + side;
        (*v)[at + step * (7u - k)] = even - side;
    }
    (*v)[at] = sum;
}

fn dft11(v: ptr<function, Points>, at: u32, step: u32) {
    var a: array<vec2<f32>, 11u>; // a[k]: v[k] + v[11 - k] in the lower half, their difference in the upper
    // dspk:unroll
    for (var k = 1u; k < 6u; k++) {
        a[k] = (*v)[at + step * k] + (*v)[at + step * (11u - k)];
        a[11u - k] = (*v)[at + step * k] - (*v)[at + step * (11u - k)];
    }
    let first = (*v)[at];
    var sum = first;
    // dspk:unroll
    for (var k = 1u; k < 6u; k++) {
        sum += a[k];
        var even = first;
        var odd = vec2<f32>(0.0);
        // dspk:unroll
        for (var m = 1u; m < 6u; m++) {
            let w = ROOTS[55u + k * m % 11u];
            even = fma(vec2<f32>(w.x), a[m], even);
            odd = fma(vec2<f32>(w.y), a[11u - m], odd);
        }
        let side = vec2<f32>(-odd.y, odd.x);
        (*v)[at + step * k] = even + side;
        (*v)[at + step * (11u - k)] = even - side;
    }
    (*v)[at] = sum;
}

fn dft13(v: ptr<function, Points>, at: u32, step: u32) {
    var a: array<vec2<f32>, 13u>; // a[k]: v[k] + v[13 - k] in the lower half, their difference in the upper
    // dspk:unroll
    for (var k = 1u; k < 7u; k++) {
        a[k] = (*v)[at + step * k] + (*v)[at + step * (13u - k)];
        a[13u - k] = (*v)[at + step * k] - (*v)[at + step * (13u - k)];
    }
    let first = (*v)[at];
    var sum = first;
    // dspk:unroll
    for (var k = 1u; k < 7u; k++) {
        sum += a[k];
        var even = first;
        var odd = vec2<f32>(0.0);
        // dspk:unroll
        for (var m = 1u; m < 7u; m++) {
            let w = ROOTS[78u + k * m % 13u];
            even = fma(vec2<f32>(w.x), a[m], even);
            odd = fma(vec2<f32>(w.y), a[13u - m], odd);
        }
        let side = vec2<f32>(-odd.y, odd.x);
        (*v)[at + step * k] = even + side;
        (*v)[at + step * (13u - k)] = even - side;
    }
    (*v)[at] = sum;
}
