// How large the numbers of the lines of a factor are, rows of A or columns of B, launched by gemmResidues.ts. For each line two words, which
// begin as 0: where its numbers end, and LOW minus where they begin. All are multiples of 2^(begin - 1075) below 2^(end - 1075) in magnitude.
// A line of zeros keeps its zeros, and one with a number that is not finite ends at INFINITE.
struct Args {
  offset: u32, lineStep: u32, step: u32,
  first: u32, // the line of `measured` that is line 0 here
  lines: u32, n: u32,
  length: u32,   // terms of a work-group
  together: u32, // lanes that share a line
}
@group(0) @binding(0) var<storage, read> M: array<REAL>;
@group(0) @binding(1) var<storage, read_write> measured: array<atomic<u32>>;
@group(1) @binding(0) var<uniform> args: Args;

@compute @workgroup_size(GROUP)
fn measure(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let side = u32(GROUP) / args.together;
  // Neighbouring lanes load neighbouring elements.
  let along = args.step == 1u;
  let line = group.x * side + select(lane % side, lane / args.together, along);
  let first = select(lane / side, lane % args.together, along);
  if (line >= args.lines) { return; }
  var end = 0u;
  var low = 0u;
  for (var k = group.y * args.length + first; k < min(args.n, (group.y + 1u) * args.length); k += args.together) {
    let x = numberOf(M[args.offset + line * args.lineStep + k * args.step]);
    let m = significandOf(x);
    if (isZero(x)) { continue; }
    let field = max(fieldOf(x), 1u);
    end = max(end, select(field + select(32u - countLeadingZeros(m.x), 64u - countLeadingZeros(m.y), m.y != 0u), INFINITE, field == 0x7ffu));
    low = max(low, LOW - field - select(32u + countTrailingZeros(m.y), countTrailingZeros(m.x), m.x != 0u));
  }
  atomicMax(&measured[2u * (args.first + line)], end);
  atomicMax(&measured[2u * (args.first + line) + 1u], low);
}
