// The search for a pivot among the candidates of the lanes of a work-group, for luStep.wgsl and luBatch.wgsl.
var<workgroup> sizes: array<vec2<u32>, GROUP>;  // magnitudes
var<workgroup> places: array<vec2<u32>, GROUP>; // position and row

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
