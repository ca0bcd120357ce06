// A column of a block; see luCommon.wgsl. Rows do not move while the pivots of a block are chosen: each row has a position. A lane has a row.
// A launch finds the pivot of the column before among the candidates of all groups, divides that column by it (L), computes the row of U
// in the block, which every group does for itself, and sums its own column. The last launch of a block has no column.

var<workgroup> pivotU: array<vec2<u32>, WIDTH>; // the row of U that this launch computes
var<workgroup> pivotRow: u32;
var<workgroup> ended: u32;

// The row of the last pivot may not be in memory yet.
fn upperEntry(k: u32, j: u32) -> vec2<u32> {
  let c = j - args.first;
  if (k + 1u == args.step) { return pivotU[c]; }
  return numberOf(workAt(upper(k, c)));
}

@compute @workgroup_size(GROUP)
fn luStep(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let c = args.step;
  let k = max(c, 1u) - 1u; // the column before
  let row = args.first + group.x * u32(GROUP) + lane;
  let below = args.rows - args.first;
  let isLeader = group.x == 0u;
  var position = row;
  if (lane == 0u) {
    atomicStore(&openCount, 0u);
    ended = u32(atomicLoad(&state[INFO]) != 0u);
  }
  if (workgroupUniformLoad(&ended) != 0u) { return; }
  var divisor = vec2<u32>(0u, 0u);
  if (c > 0u) {
    sizes[lane] = vec2<u32>(0u, 0u);
    places[lane] = vec2<u32>(0xffffffffu, 0u);
    workgroupBarrier();
    for (var g = lane; g < args.groups; g += u32(GROUP)) {
      let at = candidates(k) + 4u * g;
      let size = workAt(at);
      let best = sizes[lane];
      // groups are in the order of rows, not of positions
      if (size.y > best.y || (size.y == best.y && (size.x > best.x || (size.x == best.x && work[at + 2u] < places[lane].x)))) {
        sizes[lane] = size;
        places[lane] = workAt(at + 2u);
      }
    }
    findBest(lane);
    let to = places[0];
    if (lane == 0u) {
      pivotRow = to.y;
      ended = u32((sizes[0].x | sizes[0].y) == 0u);
      if (ended != 0u && isLeader) { atomicStore(&state[INFO], args.first + k + 1u); }
      if (ended == 0u && isLeader) { atomicStore(&state[PIVOTS + args.first + k], to.x); }
    }
    if (workgroupUniformLoad(&ended) != 0u) { return; }
    let pivot = workAt(2u * pivotRow);
    divisor = numberOf(pivot);
    if (isLeader && lane == 0u) { putWork(upper(k, k), pivot); }
    if (row < args.rows) {
      position = work[positions() + row];
      if (row == pivotRow) { position = args.first + k; } else if (position == args.first + k) { position = to.x; }
    }
  }
  if (row < args.rows) { work[positions() + row] = position; }
  let isBelow = row < args.rows && position >= args.first + c;

  // 0: L in the column before. 1: U in the row of its pivot. 2: the sums of this column.
  for (var phase = select(2u, 0u, c > 0u); phase < 3u; phase++) {
    let isUpper = phase == 1u;
    let i = select(row, pivotRow, isUpper);
    let col = select(c, c + lane, isUpper);
    let within = select(c, k, isUpper);
    let isMine = select(isBelow, c + lane < args.width, isUpper) && (phase == 0u || col < args.width);
    var bits: vec2<u32>;
    if (isMine) {
      var s: Sum;
      if (phase == 0u) {
        s = sumOfNumber(numberOf(workAt(2u * row)));
      } else {
        let before = windowBefore((i - args.first) * args.width + col, below * args.width);
        s = sumOfEntry(before, i, args.first + col, within);
      }
      bits = provedOrOpen(roundQuotient(s, divisor, phase == 0u, SINGLE == 1), lane);
    }
    bits = settleOpen(bits, lane, i, args.first + col, within);
    if (isMine && phase == 0u) { putEntry(row, args.first + k, bits); }
    if (isMine && isUpper) {
      let u = finiteOr0(bits, args.first + k, args.first + col);
      pivotU[col] = numberOf(u);
      if (isLeader) { putWork(upper(k, col), u); }
    }
    if (phase == 2u && c < args.width) {
      sizes[lane] = vec2<u32>(0u, 0u);
      places[lane] = vec2<u32>(0xffffffffu, row);
      if (isMine) {
        let s = finiteOr0(bits, position, args.first + c);
        putWork(2u * row, s);
        sizes[lane] = numberOf(s) & vec2<u32>(0xffffffffu, 0x7fffffffu);
        places[lane].x = position;
      }
      findBest(lane);
      if (lane == 0u) {
        putWork(candidates(c) + 4u * group.x, sizes[0]);
        putWork(candidates(c) + 4u * group.x + 2u, places[0]);
      }
    }
    workgroupBarrier();
  }
}
