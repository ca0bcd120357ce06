// What the part "Try" can compute: the view (try/view.ts) and the worker (worker/compute.ts) share this table.

export type Operation = "sum" | "dot" | "norm" | "product" | "solve" | "sparse";
export type Shape = "vector" | "matrix" | "columns" | "sparse";

export interface OperandSpec {
  readonly name: string;
  /** "vector": numbers in any layout; "matrix": one row per line; "columns": a vector, or a matrix with a right-hand side per column. */
  readonly shape: Shape;
  readonly hint: string;
}

export interface OperationSpec {
  readonly title: string;
  /** Shown above the inputs. */
  readonly formula: string;
  readonly operands: readonly OperandSpec[];
  /** How to solve: the first is the default. */
  readonly methods?: readonly (readonly [name: string, title: string])[];
}

const NUMBERS = "Numbers, separated by spaces, commas or lines";
const ROWS = "One row per line";

export const OPERATIONS: Readonly<Record<Operation, OperationSpec>> = {
  sum: { title: "Sum", formula: "x₁ + x₂ + … + xₙ", operands: [{ name: "x", shape: "vector", hint: NUMBERS }] },
  dot: {
    title: "Dot product",
    formula: "x₁y₁ + x₂y₂ + … + xₙyₙ",
    operands: [
      { name: "x", shape: "vector", hint: NUMBERS },
      { name: "y", shape: "vector", hint: "As many numbers as x has" },
    ],
  },
  norm: { title: "Norm", formula: "√(x₁² + x₂² + … + xₙ²)", operands: [{ name: "x", shape: "vector", hint: NUMBERS }] },
  product: {
    title: "Product",
    formula: "A B",
    operands: [
      { name: "A", shape: "matrix", hint: ROWS },
      { name: "B", shape: "columns", hint: "A vector, or a matrix with one row per line" },
    ],
  },
  solve: {
    title: "Solve",
    formula: "A x = b",
    operands: [
      { name: "A", shape: "matrix", hint: ROWS },
      { name: "b", shape: "columns", hint: "A vector, or a right-hand side per column" },
    ],
  },
  sparse: {
    title: "Sparse solve",
    formula: "A x = b, A sparse",
    operands: [
      { name: "A", shape: "sparse", hint: "Matrix Market, or one row per line (zeros are left out)" },
      { name: "b", shape: "vector", hint: NUMBERS },
    ],
    methods: [
      ["lower", "the lower triangle of A"],
      ["upper", "the upper triangle of A"],
      ["cg", "conjugate gradients"],
      ["whole", "all of A, exactly"],
    ],
  },
};

export const isOperation = (word: string): word is Operation => Object.hasOwn(OPERATIONS, word);

/** Numbers as text, or a file that the user dropped. */
export type Source = string | File;

export interface Task {
  readonly operation: Operation;
  readonly operands: Readonly<Record<string, Source>>;
  readonly method: string;
  /** A kind of the table of engines. */
  readonly engine: string;
}

export interface Answer {
  /** No dimension: a number. One: a vector. Two: a matrix, by rows. */
  readonly shape: readonly number[];
  readonly exact: Float64Array;
  /** Whether `exact` is the exact result, rounded once; else it is only the same everywhere. */
  readonly isExact: boolean;
  /** What ordinary arithmetic returns, or why that was not computed. */
  readonly ordinary: Float64Array | string;
  /** What `halfulp hash` prints for the exact result. */
  readonly sha256: string;
  /** Milliseconds. */
  readonly exactTime: number;
  readonly ordinaryTime: number;
  readonly device: string;
  /** What was read from each operand. */
  readonly read: Readonly<Record<string, string>>;
  /** How it was found, and what to know about it. */
  readonly notes: readonly string[];
}

/** Ready examples, by their name in the address. worker/examples.ts makes their numbers. */
export interface ExampleSpec {
  readonly title: string;
  readonly operation: Operation;
  readonly method?: string;
  /** What happens, in a sentence. */
  readonly story: string;
}

export const EXAMPLES: Readonly<Record<string, ExampleSpec>> = {
  lost: {
    title: "A small term between large ones",
    operation: "sum",
    story: "Ten million billions, plus 3.14, minus ten million billions. Ordinary arithmetic rounds 3.14 away, to the next even number.",
  },
  tenths: { title: "A tenth, ten times", operation: "sum", story: "Ten times 0.1 is 1. Added one after another, it is not." },
  order: {
    title: "A thousand numbers that cancel",
    operation: "sum",
    story: "Shuffle them: every order gives ordinary arithmetic another answer.",
  },
  overflow: {
    title: "Too large on the way",
    operation: "dot",
    story: "The products overflow, and what is left is not a number. The exact sum does not notice.",
  },
  orthogonal: {
    title: "Condition 1e30",
    operation: "dot",
    story: "Two vectors that are nearly orthogonal: the products cancel in the first 30 digits.",
  },
  tiny: { title: "A triangle of 3e-200 and 4e-200", operation: "norm", story: "The squares underflow to zero. The hypotenuse is 5e-200." },
  huge: { title: "A triangle of 3e190 and 4e190", operation: "norm", story: "The squares overflow. The hypotenuse is 5e190." },
  cancel: {
    title: "A row that cancels",
    operation: "product",
    story: "The middle term of the first row is lost in ordinary arithmetic.",
  },
  hilbert: {
    title: "Hilbert's matrix, order 14",
    operation: "solve",
    story: "Its rows nearly depend on each other (condition 5e19). The solution is 1, fourteen times.",
  },
  condition: {
    title: "Condition 1e20",
    operation: "solve",
    story: "A random system of condition 1e20. Ordinary arithmetic has not one correct digit.",
  },
  rump: {
    title: "Two equations",
    operation: "solve",
    story: "The smallest system that goes wrong. The solution is (205117922, 83739041), and the lines are all but parallel.",
  },
  chain: {
    title: "A chain of differences",
    operation: "sparse",
    method: "lower",
    story:
      "Every row adds and takes away ten million billions. The solution is 1, twelve times. Ordinary arithmetic loses it in the third row.",
  },
  grid: {
    title: "A plate, heated",
    operation: "sparse",
    method: "cg",
    story: "The Laplacian of a grid of 8 by 8 nodes, by conjugate gradients: the same iterations on every machine.",
  },
};
