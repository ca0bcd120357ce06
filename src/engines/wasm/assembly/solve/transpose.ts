// Copies between matrices with contiguous rows and with contiguous columns, four rows and one vector of columns at a time, for
// panel.ts. Counts are multiples of four. `rowStride` and `step` are the distances of rows and of columns in bytes.

@inline function interleaveLow<T>(a: v128, b: v128): v128 { return sizeof<T>() == 4 ? v128.shuffle<i32>(a, b, 0, 4, 1, 5) : evens(a, b); }
@inline function interleaveHigh<T>(a: v128, b: v128): v128 { return sizeof<T>() == 4 ? v128.shuffle<i32>(a, b, 2, 6, 3, 7) : odds(a, b); }
@inline function evens(a: v128, b: v128): v128 { return v128.shuffle<i64>(a, b, 0, 2); }
@inline function odds(a: v128, b: v128): v128 { return v128.shuffle<i64>(a, b, 1, 3); }
@inline function lanes<T>(): i32 { return <i32>(16 / sizeof<T>()); }

export function rowsToColumns<T>(row: usize, rowStride: usize, column: usize, step: usize, rows: i32, cols: i32): void {
  for (let i = 0; i < rows; i += 4, row += 4 * rowStride, column += 4 * sizeof<T>()) {
    let p0 = row, p2 = row + 2 * rowStride, q = column;
    for (let j = 0; j < cols; j += lanes<T>(), p0 += 16, p2 += 16, q += lanes<T>() * step) {
      const a = v128.load(p0), b = v128.load(p0 + rowStride), c = v128.load(p2), d = v128.load(p2 + rowStride);
      const ab = interleaveLow<T>(a, b), AB = interleaveHigh<T>(a, b), cd = interleaveLow<T>(c, d), CD = interleaveHigh<T>(c, d);
      if (sizeof<T>() == 4) {
        v128.store(q, evens(ab, cd)); v128.store(q + step, odds(ab, cd));
        v128.store(q + 2 * step, evens(AB, CD)); v128.store(q + 3 * step, odds(AB, CD));
      } else {
        v128.store(q, ab); v128.store(q, cd, 16);
        v128.store(q + step, AB); v128.store(q + step, CD, 16);
      }
    }
  }
}

export function columnsToRows<T>(column: usize, step: usize, row: usize, rowStride: usize, rows: i32, cols: i32): void {
  for (let i = 0; i < rows; i += 4, row += 4 * rowStride, column += 4 * sizeof<T>()) {
    let p0 = row, p2 = row + 2 * rowStride, q = column;
    for (let j = 0; j < cols; j += lanes<T>(), p0 += 16, p2 += 16, q += lanes<T>() * step) {
      if (sizeof<T>() == 4) {
        const a = v128.load(q), b = v128.load(q + step), c = v128.load(q + 2 * step), d = v128.load(q + 3 * step);
        const ab = interleaveLow<T>(a, b), AB = interleaveHigh<T>(a, b), cd = interleaveLow<T>(c, d), CD = interleaveHigh<T>(c, d);
        v128.store(p0, evens(ab, cd)); v128.store(p0 + rowStride, odds(ab, cd));
        v128.store(p2, evens(AB, CD)); v128.store(p2 + rowStride, odds(AB, CD));
      } else {
        const a = v128.load(q), b = v128.load(q, 16), c = v128.load(q + step), d = v128.load(q + step, 16);
        v128.store(p0, evens(a, c)); v128.store(p0 + rowStride, odds(a, c));
        v128.store(p2, evens(b, d)); v128.store(p2 + rowStride, odds(b, d));
      }
    }
  }
}

/** For every four rows the four numbers of each column, as tile() takes them. */
export function columnsToGroups<T>(column: usize, step: usize, to: usize, rows: i32, cols: i32): void {
  for (let i = 0; i < rows; i += 4, column += 4 * sizeof<T>()) {
    let q = column;
    for (let j = 0; j < cols; ++j, q += step, to += 4 * sizeof<T>()) {
      v128.store(to, v128.load(q));
      if (sizeof<T>() == 8) v128.store(to, v128.load(q, 16), 16);
    }
  }
}
