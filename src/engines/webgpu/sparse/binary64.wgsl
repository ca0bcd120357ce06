// Numbers in memory: binary64, as two words. binary32.wgsl is the other format.
alias Stored = vec2<u32>;
const SINGLE = false;

fn numberOf(v: Stored) -> vec2<u32> { return v; }
fn storedOf(bits: vec2<u32>) -> Stored { return bits; }
