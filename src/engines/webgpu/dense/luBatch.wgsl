// Many small matrices, one per work-group, launched by luBatch.ts; see luCommon.wgsl. A column of L and a row of U alternately (Crout): first
// the sums of column j, whose largest is the pivot, then the quotients below it and the sums of row j to the right of it. Entries of a step are
// independent, one per lane. The matrix stays where it is stored.
fn upperEntry(k: u32, j: u32) -> vec2<u32> { return entry(k, j); }

var<workgroup> ended: u32;

// Swap rows i and k.
fn swapRows(lane: u32, i: u32, k: u32) {
  let words = args.cols * (2u - u32(SINGLE));
  let first = matrixAt * (2u - u32(SINGLE));
  for (var word = lane; i != k && word < words; word += u32(GROUP)) {
    let v = A[first + i * words + word];
    A[first + i * words + word] = A[first + k * words + word];
    A[first + k * words + word] = v;
  }
}

@compute @workgroup_size(GROUP)
fn luBatch(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
           @builtin(local_invocation_index) lane: u32) {
  let matrix = groupIndex(group, groups);
  if (matrix >= args.groups) { return; }
  let n = args.rows;
  matrixAt = args.origin + matrix * n * n;
  stateAt = (args.matrix + matrix) * (PIVOTS + n);
  if (lane == 0u) {
    atomicStore(&openCount, 0u);
    ended = 0u;
  }
  workgroupBarrier();
  // The two halves of a step in one loop, so that the code is there once.
  for (var half_ = 0u; half_ < 2u * n; half_++) {
    let j = half_ / 2u;
    let isColumn = half_ % 2u == 0u;
    let below = n - j - 1u;
    let count = select(2u * below, below + 1u, isColumn);
    var divisor = vec2<u32>(0u, 0u);
    if (!isColumn) { divisor = entry(j, j); }
    sizes[lane] = vec2<u32>(0u, 0u);
    places[lane] = vec2<u32>(0xffffffffu, 0u);
    for (var first = 0u; first < count; first += u32(GROUP)) {
      let at = first + lane;
      let isMine = at < count;
      let divides = !isColumn && at < below;
      let i = select(select(j, j + 1u + at, divides), j + at, isColumn);
      let c = select(j + 1u + at - below, j, isColumn || divides);
      var bits: vec2<u32>;
      if (isMine) {
        var s: Sum;
        if (divides) { s = sumOfNumber(entry(i, c)); } else { s = sumOfEntry(emptyWindow(), i, c, j); }
        bits = provedOrOpen(roundQuotient(s, divisor, divides, SINGLE == 1), lane);
      }
      bits = settleOpen(bits, lane, i, c, j);
      if (isMine) {
        if (!divides) { bits = finiteOr0(bits, i, c); }
        putEntry(i, c, bits);
        let size = numberOf(bits) & vec2<u32>(0xffffffffu, 0x7fffffffu);
        let best = sizes[lane];
        if (size.y > best.y || (size.y == best.y && size.x > best.x)) {
          sizes[lane] = size;
          places[lane].x = i; // rows of a lane come in order
        }
      }
    }
    storageBarrier();
    if (isColumn) {
      findBest(lane);
      let pivot = places[0].x;
      if (lane == 0u) {
        ended = u32((sizes[0].x | sizes[0].y) == 0u);
        if (ended != 0u) { atomicStore(&state[stateAt + INFO], j + 1u); } else { atomicStore(&state[stateAt + PIVOTS + j], pivot); }
      }
      if (workgroupUniformLoad(&ended) != 0u) { return; }
      swapRows(lane, j, pivot);
      storageBarrier();
    }
    workgroupBarrier();
  }
}
