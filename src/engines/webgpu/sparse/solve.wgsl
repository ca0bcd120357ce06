// Solves the levels `first` to `last` - 1 of a triangle. Level m has the unknowns order[starts[m]] to order[starts[m + 1] - 1], and line k of the
// triangle is the row of unknown order[k] without its diagonal. PARTS lanes add the products of a row, and one of them rounds. What is not
// proved, the whole group adds exactly, before the next level. Several levels need a launch of one group. Composed with exact/settle.wgsl,
// launched by solve.ts. Follows LEVR of the sparse paper.
//
// The loss of a row of n entries is less than n + 3 PARTS units, as in spmv.wgsl, and addToSum() adds to it for the right-hand side.
struct Levels {
  first: u32,
  last: u32,
  unit: u32,
}
@group(0) @binding(0) var<storage, read> starts: array<u32>;
@group(0) @binding(1) var<storage, read> order: array<u32>;
@group(0) @binding(2) var<storage, read> begins: array<u32>;
@group(0) @binding(3) var<storage, read> columns: array<u32>;
@group(0) @binding(4) var<storage, read> values: array<Stored>;
@group(0) @binding(5) var<storage, read> diagonal: array<Stored>;
@group(0) @binding(6) var<storage, read> b: array<Stored>;
@group(0) @binding(7) var<storage, read_write> x: array<Stored>;
@group(1) @binding(0) var<uniform> args: Levels;

const ROWS = GROUP / PARTS;
const MINUS = 0x80000000u;

// The lines of this group that are not proved.
var<workgroup> undecidedCount: atomic<u32>;
var<workgroup> undecided: array<u32, ROWS>;
var<workgroup> count: u32;
// The line that the exact stage works on.
var<private> exactLine: u32;

fn termAt(k: u32) -> Term {
  let p = begins[exactLine] + k;
  if (p < begins[exactLine + 1u]) { return termOfProduct(negated(numberOf(values[p])), numberOf(x[columns[p]])); }
  return termOfNumber(numberOf(b[order[exactLine]]));
}

fn diagonalOf(line: u32) -> vec2<u32> {
  if (args.unit != 0u) { return vec2<u32>(0u, 0x3ff00000u); }
  return numberOf(diagonal[line]);
}

// The lines from `base` on, one for PARTS lanes. All lanes must call it.
fn solveLines(lane: u32, base: u32, end: u32) {
  if (lane == 0u) { atomicStore(&undecidedCount, 0u); }
  workgroupBarrier();
  let part = lane % PARTS;
  let line = base + lane / PARTS;
  var a = emptyWindow();
  var entries = 0u;
  if (line < end) {
    let to = begins[line + 1u];
    entries = to - begins[line];
    for (var p = begins[line] + part; p < to; p += PARTS) { addProduct(&a, numberOf(values[p]), numberOf(x[columns[p]]), MINUS); }
  }
  extend(&a);
  gather(&a, lane, part, PARTS, 1u);
  if (part == 0u && line < end) {
    let i = order[line];
    var s = sumOf(a, entries + 3u * PARTS);
    addToSum(&s, termOfNumber(numberOf(b[i])));
    let result = unknownOf(s, diagonalOf(line), args.unit != 0u, SINGLE_ROUNDING, SINGLE);
    if (result.proved) {
      x[i] = storedOf(result.bits);
    } else {
      undecided[atomicAdd(&undecidedCount, 1u)] = line;
    }
  }
  workgroupBarrier();
  if (lane == 0u) { count = atomicLoad(&undecidedCount); }
  let left = workgroupUniformLoad(&count);
  for (var k = 0u; k < left; k++) {
    let line = workgroupUniformLoad(&undecided[k]);
    exactLine = line;
    sumTerms(lane, begins[line + 1u] - begins[line] + 1u);
    if (lane == 0u) { x[order[line]] = storedOf(exactUnknown(diagonalOf(line), args.unit != 0u, SINGLE_ROUNDING, SINGLE)); }
    workgroupBarrier();
  }
}

@compute @workgroup_size(GROUP)
fn solveLevels(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  for (var level = args.first; level < args.last; level++) {
    let end = starts[level + 1u];
    for (var base = starts[level] + groupIndex(group, groups) * ROWS; base < end; base += groups.x * groups.y * ROWS) {
      solveLines(lane, base, end);
    }
    storageBarrier();
    workgroupBarrier();
  }
}
