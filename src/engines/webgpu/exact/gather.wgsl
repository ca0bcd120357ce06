// The sum of the windows of several lanes of a work-group, through workgroup memory. Composed after window.wgsl; GROUP is the size of a
// work-group.
const RECORD = 10u; // words of a window in memory: its seven, its digit, `cut` and `special`

var<workgroup> gathered: array<array<u32, RECORD>, GROUP>;

fn recordOf(a: ptr<function, Window>) -> array<u32, RECORD> {
  return array<u32, RECORD>((*a).w[0], (*a).w[1], (*a).w[2], (*a).w[3], (*a).w[4], (*a).w[5], (*a).w[6], bitcast<u32>((*a).digit), (*a).cut,
                            (*a).special);
}

fn windowOfRecord(r: array<u32, RECORD>) -> Window {
  return Window(array<u32, 7>(r[0], r[1], r[2], r[3], r[4], r[5], r[6]), bitcast<i32>(r[7]), r[8], r[9]);
}

// Add the windows of `parts` lanes, a power of two, that are `step` lanes apart: lane `lane` is part number `part` of its sum. Part 0 gets
// it. All lanes of the group must call it.
fn gather(a: ptr<function, Window>, lane: u32, part: u32, parts: u32, step: u32) {
  for (var n = parts / 2u; n > 0u; n /= 2u) {
    if (part >= n && part < 2u * n) { gathered[lane] = recordOf(a); }
    workgroupBarrier();
    if (part < n) {
      var b = windowOfRecord(gathered[lane + n * step]);
      addWindow(a, &b);
    }
    workgroupBarrier();
  }
}
