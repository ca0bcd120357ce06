// Numbers in memory: binary32, as one word. binary64.wgsl is the other format.
alias Stored = u32;
const SINGLE = true;

fn numberOf(v: Stored) -> vec2<u32> { return widened(v); }
fn storedOf(bits: vec2<u32>) -> Stored { return bits.x; }
