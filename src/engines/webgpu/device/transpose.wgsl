// Copies a strided matrix to one stored by rows, through tiles of local memory, so that both reads and writes are contiguous. WORDS is the
// number of words of an entry. Launched by copyMatrix.ts.
const TILE = 32u;
const LINES = 8u;

struct Layout {
  first: u32, // the place of entry (0, 0), in entries, like the strides
  rowStride: u32,
  colStride: u32,
  rows: u32,
  cols: u32,
}
@group(0) @binding(0) var<storage, read> entries: array<WORD>;
@group(0) @binding(1) var<storage, read_write> byRows: array<WORD>;
@group(1) @binding(0) var<uniform> args: Layout;

var<workgroup> tile: array<array<WORD, TILE + 1>, TILE>;

@compute @workgroup_size(TILE, LINES)
fn rowByRow(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let i0 = group.y * TILE;
  let j0 = group.x * TILE;
  let across = args.rowStride == 1u; // columns are contiguous: neighbours read along them
  for (var k = lane.y; k < TILE; k += LINES) {
    let i = i0 + select(k, lane.x, across);
    let j = j0 + select(lane.x, k, across);
    if (i < args.rows && j < args.cols) {
      tile[i - i0][j - j0] = entries[args.first + i * args.rowStride + j * args.colStride];
    }
  }
  workgroupBarrier();
  for (var k = lane.y; k < TILE; k += LINES) {
    let i = i0 + k;
    let j = j0 + lane.x;
    if (i < args.rows && j < args.cols) {
      byRows[i * args.cols + j] = tile[k][lane.x];
    }
  }
}
