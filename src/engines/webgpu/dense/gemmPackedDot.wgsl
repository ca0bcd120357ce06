// The sum of the products of four signed bytes, for gemmProduct.wgsl, where WGSL has it.
fn dotOfBytes(a: u32, b: u32) -> i32 { return dot4I8Packed(a, b); }
