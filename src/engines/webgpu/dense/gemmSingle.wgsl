// Entries of binary32 matrices; see gemmDouble.wgsl.
const SINGLE = true;
alias REAL = u32;
fn numberOf(x: REAL) -> vec2<u32> { return widened(x); }
fn realOf(bits: vec2<u32>) -> REAL { return bits.x; }
