// The matrices of the sparse paper, each as { name, make, ... }: the grids of its Table 5.1, what stands for its Table 5.2, and
// real ones. `make` returns the whole matrix by rows.
import { createReadStream, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { main } from "./library.mjs";
import { ROOT } from "./provenance.mjs";
import { laplacianOf } from "./sparseCases.mjs";

const PLANE = [
  [1024, 1024],
  [512, 2048],
  [256, 4096],
  [128, 8192],
  [64, 16384],
];
const SPACE = [
  [128, 128, 128],
  [64, 128, 256],
  [64, 64, 512],
  [32, 64, 1024],
  [32, 32, 2048],
];
const WEB = { n: 1_000_005, entries: 3_105_536 }; // webbase-1M
const FOLDER = join(ROOT, "../shared/matrices");

export const BINARY64 = "binary64";
export const BINARY32 = "binary32";

/** Groups of matrices, as the paper has them. Every axis of a grid has `scale` times its nodes. */
export function groupsFor(scale) {
  const axis = (nodes) => Math.max(2, Math.round(scale * nodes));
  const area = (count) => Math.round(scale ** 2 * count);
  const laplacians = (grids, points) => ({
    title: `${grids[0].length}-D Laplacians with ${points} points`,
    precisions: [BINARY64, BINARY32],
    matrices: grids.map((grid) => {
      const sizes = grid.map(axis);
      return { name: sizes.join(" x "), make: () => laplacianOf({ sizes, points }) };
    }),
  });
  return [
    laplacians(PLANE, 5),
    laplacians(PLANE, 9),
    laplacians(SPACE, 7),
    laplacians(SPACE, 27),
    {
      title: "General matrices",
      precisions: [BINARY64],
      matrices: [
        { name: "elasticity in 2-D", make: () => main.elasticity(axis(708), axis(708)) },
        { name: "elasticity in 3-D", make: () => main.elasticity(axis(70), axis(70), axis(70)) },
        { name: "power law", make: () => main.powerLaw(area(WEB.n), area(WEB.entries), 1) },
        ...realMatrices(),
      ],
    },
  ];
}

function realMatrices() {
  const files = existsSync(FOLDER) ? readdirSync(FOLDER).filter((name) => name.endsWith(".mtx")) : [];
  return files.map((name) => ({
    name: name.replace(".mtx", ""),
    make: () => main.readMatrixMarket(createReadStream(join(FOLDER, name), { encoding: "utf8" })),
  }));
}

/** Whether there is a diagonal to divide by. */
export function hasDiagonal({ rows, pointers, indices, values }) {
  for (let i = 0; i < rows; i++) {
    let p = pointers[i];
    while (p < pointers[i + 1] && indices[p] !== i) p++;
    if (p === pointers[i + 1] || values[p] === 0) return false;
  }
  return true;
}

/** The same matrix in this precision. */
export function inPrecision(A, precision) {
  return precision === BINARY64 ? A : main.csr(A.rows, A.cols, A.pointers, A.indices, Float32Array.from(A.values));
}
