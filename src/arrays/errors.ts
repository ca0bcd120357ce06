// Every error halfulp throws on purpose. The message names the routine, the argument, its value and what
// was expected. Names are written out: a minifier renames classes, and people search for these words.

/** What all of them have in common. */
export class HalfulpError extends Error {
  override readonly name: string = "HalfulpError";
}

/** Lengths, dimensions, strides, types, shared entries. */
export class ShapeError extends HalfulpError {
  override readonly name = "ShapeError";
}

/** An entry of a matrix that is not finite, or overflowed. */
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

/** A zero on the diagonal or a zero pivot, at this index. */
export class SingularError extends HalfulpError {
  override readonly name = "SingularError";
  constructor(
    message: string,
    readonly index: number,
  ) {
    super(message);
  }
}

/** A sparse pattern that is not what it says it is. */
export class PatternError extends HalfulpError {
  override readonly name = "PatternError";
}

/** Bytes or a file that cannot be read; `line` is 0 where there are no lines. */
export class FormatError extends HalfulpError {
  override readonly name = "FormatError";
  constructor(
    message: string,
    readonly line = 0,
  ) {
    super(message);
  }
}

/** No such device, a lost device, or no memory there. */
export class EngineError extends HalfulpError {
  override readonly name = "EngineError";
}
