// From which size on work goes to the device. The defaults are guesses from the time of a launch and a read on a GPU, about 0.1 ms; tests set
// them to 0. Called by index.ts.

export interface Choices {
  /** Entries of a sparse matrix, for products, solves and ilu0. */
  readonly minEntries: number;
  /** Lines in a level, on average, for ilu0: a launch for fewer takes longer than the calling thread. */
  readonly linesPerLevel: number;
  /** The order of a matrix, for binary32 factors. */
  readonly minOrder: number;
  /** Entries of a matrix, for the magnitudes of its rows. */
  readonly minMagnitudes: number;
  /** Entries of a matrix, for the iterative solvers: an iteration waits for three or four sums. */
  readonly minIteration: number;
  /** The products of all entries, for exgemm: up to here a product takes the calling thread about a millisecond, less than waiting for a device. */
  readonly minTerms: number;
  /** The order of a matrix, for exlu: smaller ones take less time on the host than the launches for their columns. */
  readonly minFactors: number;
  /**
   * The order of the matrices of exluBatch, their number, and the entries of all of them. A work-group takes a matrix and a lane an entry of a
   * column or row, so smaller orders and numbers leave most of a device idle. The calling thread takes 2 to 5 ms for 2^16 entries.
   */
  readonly minBatchOrder: number;
  readonly minBatchCount: number;
  readonly minBatchEntries: number;
  /** The largest order of a matrix that one work-group factors. Larger ones are factored one after another, as by exlu. */
  readonly maxBatchOrder: number;
}

export const CHOICES: Choices = {
  minEntries: 2 ** 12,
  linesPerLevel: 64,
  minOrder: 256,
  minMagnitudes: 2 ** 16,
  minIteration: 2 ** 18,
  minTerms: 2 ** 18,
  minFactors: 64,
  minBatchOrder: 8,
  minBatchCount: 16,
  minBatchEntries: 2 ** 16,
  maxBatchOrder: 256,
};
