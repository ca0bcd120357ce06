// The windows of the rows of A times x, one for each part of the columns; of A times several vectors, if `columns` is not 1. Launched by
// gemv.ts and trsv.ts. Strides may be negative: u32 arithmetic wraps. A work-group has ROW_LANES by COL_LANES lanes; BY_ROWS: neighbours are in a row, where A is stored by rows, else in a column.
struct Args {
  offset: u32, // entry (i, j) is element offset + i rowStride + j colStride
  rowStride: u32,
  colStride: u32,
  rows: u32,
  cols: u32,
  length: u32, // of a part of the columns
  parts: u32,
  flip: u32,    // 0x80000000 for -A x
  xOffset: u32, // element j of vector c is xOffset + c xColumn + j xStep
  xStep: u32,
  xColumn: u32,
}
@group(0) @binding(0) var<storage, read> A: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> records: array<u32>;
@group(1) @binding(0) var<uniform> args: Args;

fn entry(i: u32) -> vec2<u32> {
  if (SINGLE == 1) { return widened(A[i]); }
  return vec2<u32>(A[2u * i], A[2u * i + 1u]);
}
fn factor(i: u32) -> vec2<u32> {
  if (SINGLE == 1) { return widened(x[i]); }
  return vec2<u32>(x[2u * i], x[2u * i + 1u]);
}

@compute @workgroup_size(GROUP)
fn gemv(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  const ROWS = u32(ROW_LANES);
  const COLS = u32(COL_LANES);
  let row = select(lane % ROWS, lane / COLS, BY_ROWS == 1);
  let col = select(lane / ROWS, lane % COLS, BY_ROWS == 1);
  let i = groupIndex(group, groups) * ROWS + row;
  let part = group.z % args.parts;
  let first = args.xOffset + group.z / args.parts * args.xColumn;
  let end = select(0u, min(args.cols, (part + 1u) * args.length), i < args.rows);
  var a = emptyLimbs();
  for (var j = part * args.length + col; j < end; j += COLS) {
    addProductLimbs(&a, entry(args.offset + i * args.rowStride + j * args.colStride), factor(first + j * args.xStep), args.flip);
  }
  var sum = windowOfLimbs(&a);
  gather(&sum, lane, col, COLS, select(ROWS, 1u, BY_ROWS == 1));
  if (col == 0u && i < args.rows) {
    let r = recordOf(&sum);
    let to = (group.z * args.rows + i) * RECORD;
    for (var k = 0u; k < RECORD; k++) { records[to + k] = r[k]; }
  }
}
