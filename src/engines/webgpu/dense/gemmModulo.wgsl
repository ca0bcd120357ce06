// Numbers modulo m, for gemmResidues.wgsl and gemmProduct.wgsl, which have the table of moduli.ts as `table`. Composed after words.wgsl.

// x modulo m, from 0 to m - 1, for |x| <= 2^30: floor(u floor(2^32 / m) / 2^32) is at most one below floor(u / m), for u < 2^32.
fn reduced(x: i32, record: u32) -> u32 {
  let m = u32(table[record]);
  let u = u32(x + table[record + OFFSET]);
  let r = u - wideProduct(u, u32(table[record + RECIPROCAL])).y * m;
  return select(r, r - m, r >= m);
}
