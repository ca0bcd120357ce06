// Factors the PANEL columns of W from `first` on by one work-group, right-looking with partial pivoting. `state`: one more than the first
// column whose pivot is 0 or not finite, or 0; then the pivots; then the diagonal. Launched by lu.ts.
//
// On a GPU one group moves some 100 GB/s, 5 microseconds a column of 4096 rows. More groups would need a launch for every column.
struct Place {
  first: u32,
  size: u32, // rows and columns of W, which is stored by columns
  n: u32, // those without padding, whose columns are factored already
}
@group(0) @binding(0) var<storage, read_write> W: array<f32>;
@group(0) @binding(1) var<storage, read_write> state: array<u32>;
@group(1) @binding(0) var<uniform> args: Place;

const NONE = 0xffffffffu;
const INFINITE = 0x7f800000u;

var<workgroup> sizes: array<u32, GROUP>; // magnitudes, whose bits are ordered like numbers; NaN is the largest
var<workgroup> places: array<u32, GROUP>;
var<workgroup> pivotRow: array<f32, PANEL>;
var<workgroup> pivotBits: u32;
var<workgroup> ended: u32;

fn magnitude(v: f32) -> u32 { return bitcast<u32>(v) & 0x7fffffffu; }

@compute @workgroup_size(GROUP)
fn panel(@builtin(local_invocation_index) lane: u32) {
  let size = args.size;
  let first = args.first;
  if (lane == 0u) { ended = state[0]; }
  if (workgroupUniformLoad(&ended) != 0u) { return; }
  var best = 0u;
  var place = NONE;
  for (var i = first + lane; i < size; i += GROUP) {
    let m = magnitude(W[first * size + i]);
    if (place == NONE || m > best) {
      best = m;
      place = i;
    }
  }
  for (var c = lane; c < PANEL; c += GROUP) { state[1u + first + c] = first + c; }
  storageBarrier();
  for (var p = 0u; p < min(PANEL, args.n - first); p++) {
    let column = first + p;
    sizes[lane] = best;
    places[lane] = place;
    workgroupBarrier();
    for (var half = GROUP / 2u; half > 0u; half /= 2u) {
      if (lane < half) {
        let other = places[lane + half];
        let m = sizes[lane + half];
        let isBetter = other != NONE && (places[lane] == NONE || m > sizes[lane] || (m == sizes[lane] && other < places[lane]));
        if (isBetter) {
          sizes[lane] = m;
          places[lane] = other;
        }
      }
      workgroupBarrier();
    }
    let pivot = workgroupUniformLoad(&places[0]);
    // Exchange the rows within the panel.
    for (var c = lane; c < PANEL; c += GROUP) {
      let at = (first + c) * size;
      let u = W[at + pivot];
      pivotRow[c] = u;
      W[at + pivot] = W[at + column];
      W[at + column] = u;
      if (c == p) {
        pivotBits = magnitude(u);
        state[1u + column] = pivot;
        state[1u + size + column] = bitcast<u32>(u);
      }
    }
    storageBarrier();
    let bits = workgroupUniformLoad(&pivotBits);
    if (bits == 0u || bits >= INFINITE) {
      if (lane == 0u) { state[0] = column + 1u; }
      return;
    }
    let top = pivotRow[p];
    best = 0u;
    place = NONE;
    for (var i = column + 1u + lane; i < size; i += GROUP) {
      let l = W[column * size + i] / top;
      W[column * size + i] = l;
      for (var c = p + 1u; c < PANEL; c++) {
        let at = (first + c) * size + i;
        let v = W[at] - l * pivotRow[c];
        W[at] = v;
        if (c == p + 1u) {
          let m = magnitude(v);
          if (place == NONE || m > best) {
            best = m;
            place = i;
          }
        }
      }
    }
    storageBarrier();
    workgroupBarrier();
  }
}
