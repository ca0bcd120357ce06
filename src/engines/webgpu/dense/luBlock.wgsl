// What the kernels of exlu have of a block of columns, beside A: windows, sums and candidates. Composed after luCommon.wgsl. The sums over
// k < first, where the block begins, are windows of tiles.wgsl.
@group(0) @binding(2) var<storage, read> records: array<u32>;
// For each row two words, the sum in the current column, then for each row its position; two lists of candidates, four words for each
// group; U in the block, by rows. Sums and U are results of the format: words as in Result.
@group(0) @binding(3) var<storage, read_write> work: array<u32>;

fn positions() -> u32 { return 2u * args.rows; }
fn candidates(step: u32) -> u32 { return 3u * args.rows + 4u * args.groups * (step & 1u); }
fn upper(k: u32, c: u32) -> u32 { return 3u * args.rows + 8u * args.groups + 2u * (k * args.width + c); }

fn workAt(at: u32) -> vec2<u32> { return vec2<u32>(work[at], work[at + 1u]); }
fn putWork(at: u32, v: vec2<u32>) {
  work[at] = v.x;
  work[at + 1u] = v.y;
}

// The window of the sum over k < first, entry `at` of `count`.
fn windowBefore(at: u32, count: u32) -> Window {
  var a = emptyWindow();
  for (var part = 0u; part < args.parts; part++) {
    var r: array<u32, RECORD>;
    for (var k = 0u; k < RECORD; k++) { r[k] = records[(part * count + at) * RECORD + k]; }
    var b = windowOfRecord(r);
    addWindow(&a, &b);
  }
  return a;
}
