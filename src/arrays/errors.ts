// The errors that halfulp throws on purpose. A message names the routine, the argument, its value and what was expected. The names are
// written out, because a minifier renames classes and people search for these names.

/** The base class of all errors of this library. */
export class HalfulpError extends Error {
  override readonly name: string = "HalfulpError";
}

/** Wrong lengths, dimensions, strides or types, or arguments that share entries. */
export class ShapeError extends HalfulpError {
  override readonly name = "ShapeError";
}

/** A matrix entry that is not finite or has overflowed. */
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

/** An invalid sparse pattern. */
export class PatternError extends HalfulpError {
  override readonly name = "PatternError";
}

/** Bytes or a file that cannot be read; `line` is 0 if the format has no lines. */
export class FormatError extends HalfulpError {
  override readonly name = "FormatError";
  constructor(
    message: string,
    readonly line = 0,
  ) {
    super(message);
  }
}

/** A missing or lost device, or a device without enough memory. */
export class EngineError extends HalfulpError {
  override readonly name = "EngineError";
}
