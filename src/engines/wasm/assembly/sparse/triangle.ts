// A sparse triangle as the kernels read it from a job record (JOB_BEGINS and the fields after it in layout.ts). It is stored by lines:
// rows, or columns in the plain column-wise schedules. Used by the other files of this folder.
import { APART, FIRST, JOB_BEGINS, JOB_DIAGONAL_AT, JOB_ENDS, JOB_INDICES, JOB_M, JOB_ORDER, JOB_SHAPES, JOB_SHAPE_STARTS, JOB_UPPER, LAST } from "../layout";
import { addressAt, i32At } from "../team";

@inline export function integer(array: usize, i: i32): i32 { return i32.load(array + (<usize>i << 2)); }

// The line of the unknown that is solved k-th.
@inline export function lineOf(job: usize, k: i32): i32 {
  return i32At(job, JOB_UPPER) && addressAt(job, JOB_ORDER) == 0 ? i32At(job, JOB_M) - 1 - k : k;
}
// The difference of the lines of consecutive unknowns: 1 or -1.
@inline export function stepOf(job: usize): i32 { return lineOf(job, 1) - lineOf(job, 0); }

// The entries of a line, without its diagonal: [firstOf, endOf).
@inline export function firstOf(job: usize, line: i32): i32 { return integer(addressAt(job, JOB_BEGINS), line) + <i32>(i32At(job, JOB_DIAGONAL_AT) == FIRST); }
@inline export function endOf(job: usize, line: i32): i32 { return integer(addressAt(job, JOB_ENDS), line) - <i32>(i32At(job, JOB_DIAGONAL_AT) == LAST); }
// The address of a line's first index, and the unknown to which its indices are relative: 0 or, with shapes, its own.
@inline export function indexOf(job: usize, line: i32, first: i32): usize {
  const shapes = addressAt(job, JOB_SHAPES);
  return addressAt(job, JOB_INDICES) + (<usize>(shapes != 0 ? integer(addressAt(job, JOB_SHAPE_STARTS), load<u8>(shapes + line)) + <i32>(i32At(job, JOB_DIAGONAL_AT) == FIRST) : first) << 2);
}
@inline export function originOf(job: usize, line: i32): i32 { return addressAt(job, JOB_SHAPES) != 0 ? line : 0; }
// The position of a line's diagonal in JOB_DIAGONAL.
@inline export function diagonalOf(diagonalAt: i32, line: i32, first: i32, end: i32): i32 { return diagonalAt == APART ? line : diagonalAt == LAST ? end : first - 1; }
