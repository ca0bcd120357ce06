// The sum of the products of four signed bytes, for gemmProduct.wgsl, where WGSL does not have it.
fn bytesOf(x: u32) -> vec4<i32> { return vec4<i32>(vec4<u32>(x << 24u, x << 16u, x << 8u, x)) >> vec4<u32>(24u); }
fn dotOfBytes(a: u32, b: u32) -> i32 { return dot(bytesOf(a), bytesOf(b)); }
