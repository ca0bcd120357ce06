// The errors that halfulp throws on purpose. A message names the routine, the argument, its value and what was expected. The names are
// written out, because a minifier renames classes and people search for these names.

/**
 * The base class of all errors of this library.
 * @example
 * try {
 *   exsum("1, 2");
 * } catch (error) {
 *   error instanceof HalfulpError; // true
 *   error.name; // 'ShapeError'
 * }
 */
export class HalfulpError extends Error {
  override readonly name: string = "HalfulpError";
}

/**
 * Wrong lengths, dimensions, strides or types, or arguments that share entries.
 * @example
 * try {
 *   exdot(Float64Array.of(1), Float64Array.of(1, 2));
 * } catch (error) {
 *   error instanceof ShapeError; // true
 *   error.message; // 'exdot: y has length 2, expected 1 (the length of x)'
 * }
 */
export class ShapeError extends HalfulpError {
  override readonly name = "ShapeError";
}

/**
 * A matrix entry that is not finite or has overflowed.
 * @example
 * try {
 *   exlu(fromRows([[1, 2], [3, Infinity]]));
 * } catch (error) {
 *   error instanceof ValueError; // true
 *   [error.row, error.column]; // [ 1, 1 ]
 * }
 */
export class ValueError extends HalfulpError {
  override readonly name = "ValueError";
  constructor(
    message: string,
    readonly row: number,
    readonly column: number,
  ) {
    super(message);
  }
}

/**
 * A zero on the diagonal or a zero pivot, at this index.
 * @example
 * try {
 *   solve(fromRows([[1, 2], [2, 4]]), Float64Array.of(1, 2));
 * } catch (error) {
 *   error instanceof SingularError; // true
 *   error.index; // 1
 * }
 */
export class SingularError extends HalfulpError {
  override readonly name = "SingularError";
  constructor(
    message: string,
    readonly index: number,
  ) {
    super(message);
  }
}

/**
 * An invalid sparse pattern.
 * @example
 * try {
 *   csr(1, 2, Int32Array.of(0, 2), Int32Array.of(1, 1), Float64Array.of(1, 2));
 * } catch (error) {
 *   error instanceof PatternError; // true
 *   error.message; // 'csr: indices[1] is 1, which row 0 has already at 0'
 * }
 */
export class PatternError extends HalfulpError {
  override readonly name = "PatternError";
}

/**
 * Bytes or a file that cannot be read; `line` is 0 if the format has no lines.
 * @example
 * try {
 *   await readMatrixMarket("1 2 3");
 * } catch (error) {
 *   error instanceof FormatError; // true
 *   error.line; // 1
 * }
 */
export class FormatError extends HalfulpError {
  override readonly name = "FormatError";
  constructor(
    message: string,
    readonly line = 0,
  ) {
    super(message);
  }
}

/**
 * A missing or lost device, or a device without enough memory.
 * @example
 * try {
 *   allocate(2 ** 40);
 * } catch (error) {
 *   error instanceof EngineError; // true
 * }
 */
export class EngineError extends HalfulpError {
  override readonly name = "EngineError";
}
