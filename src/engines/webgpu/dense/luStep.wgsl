// A column of a block; see luCommon.wgsl. Rows do not move while the pivots of a block are chosen: each row has a position. A lane has a row.
// A launch finds the pivot of the column before among the candidates of all groups, divides that column by it (L), computes the row of U
// in the block, which every group does for itself, and sums its own column. The last launch of a block has no column.

var<workgroup> sizes: array<vec2<u32>, GROUP>;
var<workgroup> places: array<vec2<u32>, GROUP>; // position and row
var<workgroup> pivotU: array<vec2<u32>, WIDTH>; // the row of U that this launch computes
var<workgroup> pivotRow: u32;
var<workgroup> ended: u32;

// The better of two candidates: the larger magnitude, then the lower position.
fn isBetter(a: u32, b: u32) -> bool {
  let x = sizes[a];
  let y = sizes[b];
  return x.y > y.y || (x.y == y.y && (x.x > y.x || (x.x == y.x && places[a].x < places[b].x)));
}

// Move the best candidate to lane 0.
fn findBest(lane: u32) {
  workgroupBarrier();
  for (var n = u32(GROUP) / 2u; n > 0u; n /= 2u) {
    if (lane < n && isBetter(lane + n, lane)) {
      sizes[lane] = sizes[lane + n];
      places[lane] = places[lane + n];
    }
    workgroupBarrier();
  }
}

// u of row k of the block and the exact entry's column. That of the last pivot may not be in memory yet.
fn upperEntry(k: u32) -> vec2<u32> {
  let c = exactCol - args.first;
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
        var a = windowBefore((i - args.first) * args.width + col, below * args.width);
        addTerm(&a, termOfNumber(entry(i, args.first + col)));
        var inBlock = emptyWindow();
        for (var n = 0u; n < within; n++) {
          var u = pivotU[col];
          if (n < k) { u = numberOf(workAt(upper(n, col))); }
          addProduct(&inBlock, entry(i, args.first + n), u, 0x80000000u);
        }
        extend(&inBlock);
        addWindow(&a, &inBlock);
        s = sumOf(a, lossOfEntry());
      }
      let result = roundQuotient(s, divisor, phase == 0u, SINGLE == 1);
      bits = result.bits;
      if (!result.proved) { open[atomicAdd(&openCount, 1u)] = lane; }
    }
    let count = takeOpen(lane);
    for (var o = 0u; o < count; o++) {
      if (lane == open[o]) {
        exactRow = i;
        exactCol = args.first + col;
      }
      workgroupBarrier();
      sumExactly(lane, within);
      if (lane == open[o]) { bits = exactBits; }
      workgroupBarrier();
    }
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
