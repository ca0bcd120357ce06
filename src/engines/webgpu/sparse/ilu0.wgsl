// ILU(0), launched by ilu0.ts level by level: a work-group for each line of a level, and a lane for each entry of it, GROUP entries at a time. A
// line is a row of the matrix, or a column of one by columns. Composed with exact/settle.wgsl; the twin of engines/reference/ilu0.ts.
//
// Entry p of a line has products with the lines of the entries before min(p, diagonal): they are finished one after another, those from the
// diagonal on together. A lane adds its products to a window, so n of them lose less than n + 4 L units: L is 2 with the entry itself.
struct Lines {
  first: u32, // in the order
  count: u32,
  byRows: u32,
}
@group(0) @binding(0) var<storage, read> order: array<u32>;
@group(0) @binding(1) var<storage, read> pointers: array<u32>;
@group(0) @binding(2) var<storage, read> indices: array<u32>;
@group(0) @binding(3) var<storage, read> diagonal: array<u32>;
@group(0) @binding(4) var<storage, read_write> values: array<Stored>;
@group(0) @binding(5) var<storage, read_write> failed: atomic<u32>; // the first position that is not finite or, as a pivot, zero
@group(1) @binding(0) var<uniform> args: Lines;

const NONE = 0xffffffffu;
const MINUS = 0x80000000u;

var<workgroup> worst: atomic<u32>; // of this line
var<workgroup> undecidedCount: atomic<u32>;
var<workgroup> undecided: array<u32, GROUP>; // positions of entries that are not proved
var<workgroup> undecidedNow: u32;
var<private> begin: u32; // of the line
// The entry that the exact stage works on: its position, and where its products end.
var<private> exactEntry: u32;
var<private> exactStop: u32;

// The position of an index in the part of line k after its diagonal, or NONE. Indices ascend.
fn find(k: u32, index: u32) -> u32 {
  let end = pointers[k + 1u];
  var low = diagonal[k] + 1u;
  var high = end;
  while (low < high) {
    let middle = (low + high) / 2u;
    if (indices[middle] < index) { low = middle + 1u; } else { high = middle; }
  }
  if (low < end && indices[low] == index) { return low; }
  return NONE;
}

fn termAt(k: u32) -> Term {
  let p = begin + k;
  if (p == exactStop) { return termOfNumber(numberOf(values[exactEntry])); }
  let q = find(indices[p], indices[exactEntry]);
  var none: Term;
  if (q == NONE) { return none; }
  return termOfProduct(negated(numberOf(values[p])), numberOf(values[q]));
}

@compute @workgroup_size(GROUP)
fn factorLines(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
  let place = groupIndex(group, groups);
  if (place >= args.count) { return; }
  let line = order[args.first + place];
  let start = pointers[line];
  let end = pointers[line + 1u];
  let at = diagonal[line];
  begin = start;
  if (lane == 0u) {
    atomicStore(&worst, NONE);
    atomicStore(&undecidedCount, 0u);
  }
  workgroupBarrier();
  for (var chunk = start; chunk < end; chunk += u32(GROUP)) {
    let own = chunk + lane;
    let isThere = own < end;
    let index = indices[min(own, end - 1u)];
    var sum = emptyWindow();
    let last = min(at, chunk + u32(GROUP));
    for (var p = start; p <= last; p++) {
      let isLast = p == last;
      if (isLast || p >= chunk) {
        let finishes = isThere && select(own == p, own >= at, isLast);
        // 0: the sums. 1: their quotients, by the pivot of another row, or by that of this column.
        for (var phase = 0u; phase < 2u; phase++) {
          let divides = phase == 1u;
          var isMine = finishes;
          var divisor = vec2<u32>(0u, 0u);
          if (divides && isMine) {
            isMine = select(own > at, own < at, args.byRows != 0u);
            divisor = numberOf(values[select(at, diagonal[index], args.byRows != 0u)]);
            isMine = isMine && isNumber(divisor) && !isZero(divisor); // otherwise it has failed already
          }
          var bits: vec2<u32>;
          if (isMine) {
            var s: Sum;
            if (divides) {
              s = sumOfNumber(numberOf(values[own]));
            } else {
              extend(&sum);
              addTerm(&sum, termOfNumber(numberOf(values[own])));
              s = sumOf(sum, at - start + 9u);
            }
            let result = roundQuotient(s, divisor, divides, SINGLE);
            bits = result.bits;
            if (!result.proved) { undecided[atomicAdd(&undecidedCount, 1u)] = own; }
          }
          workgroupBarrier();
          if (lane == 0u) {
            undecidedNow = atomicLoad(&undecidedCount);
            atomicStore(&undecidedCount, 0u);
          }
          let count = workgroupUniformLoad(&undecidedNow);
          for (var k = 0u; k < count; k++) {
            exactEntry = workgroupUniformLoad(&undecided[k]);
            exactStop = min(exactEntry, at);
            sumTerms(lane, exactStop - start + 1u);
            if (own == exactEntry) { bits = roundSum(Sum(leadingDigits(), 0u, 0), SINGLE).bits; }
            workgroupBarrier();
          }
          if (isMine) {
            values[own] = storedOf(bits);
            if (!isNumber(numberOf(storedOf(bits)))) { atomicMin(&worst, own); }
          }
          storageBarrier();
          workgroupBarrier();
        }
      }
      if (!isLast && isThere && own > p) {
        let q = find(indices[p], index);
        if (q != NONE) { addProduct(&sum, numberOf(values[p]), numberOf(values[q]), MINUS); }
      }
    }
  }
  if (lane == 0u) {
    var position = atomicLoad(&worst);
    if (position == NONE && isZero(numberOf(values[at]))) { position = at; }
    if (position != NONE) { atomicMin(&failed, position); }
  }
}
