// Entries of binary64 matrices. Programs of exgemm begin with this file or with gemmSingle.wgsl, and go on with words.wgsl.
const SINGLE = false;
alias REAL = vec2<u32>;
fn numberOf(x: REAL) -> vec2<u32> { return x; }
fn realOf(bits: vec2<u32>) -> REAL { return bits; }
