// What the part "Race" can measure: the view and the worker share this table.

export type RaceRoutine = "exsum" | "exdot" | "exgemv" | "exgemm" | "solve";

export interface RacePoint {
  readonly n: number;
  /** Milliseconds per call. */
  readonly exact: number;
  readonly plain: number;
}

export interface RaceSpec {
  readonly title: string;
  /** What n is. */
  readonly size: string;
  /** The unit of work, and how many a call does. */
  readonly unit: string;
  work(n: number): number;
}

export const RACES: Readonly<Record<RaceRoutine, RaceSpec>> = {
  exsum: { title: "Sum", size: "numbers", unit: "number", work: (n) => n },
  exdot: { title: "Dot product", size: "pairs", unit: "pair", work: (n) => n },
  exgemv: { title: "Matrix times vector", size: "order of the matrix", unit: "entry", work: (n) => n * n },
  exgemm: { title: "Matrix times matrix", size: "order of the matrices", unit: "product", work: (n) => n ** 3 },
  solve: { title: "Solve", size: "order of the system", unit: "product", work: (n) => n ** 3 / 3 },
};

export const isRaceRoutine = (word: string): word is RaceRoutine => Object.hasOwn(RACES, word);
