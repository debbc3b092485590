// Floats as unsigned integers of the same order, for several values at once.
alias Lanes = vec2<f32>; // dspk:vector VEC
alias Counts = vec2<u32>; // dspk:vector VEC
alias Flags = vec2<bool>; // dspk:vector VEC

fn key(v: Lanes) -> Counts {
    let b = bitcast<Counts>(v);
    return b ^ select(Counts(0x80000000u), Counts(0xffffffffu), (b >> Counts(31u)) == Counts(1u));
}

fn unkey(k: Counts) -> Lanes {
    return bitcast<Lanes>(k ^ select(Counts(0xffffffffu), Counts(0x80000000u), (k >> Counts(31u)) == Counts(1u)));
}

// By the bits: comparing a value with itself may be optimised away.
fn is_nan(v: Lanes) -> Flags {
    return (bitcast<Counts>(v) & Counts(0x7fffffffu)) > Counts(0x7f800000u);
}
