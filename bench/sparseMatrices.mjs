// The matrices of the sparse paper, each as { name, make, ... }: the grids of its Table 5.1, what stands for its Table 5.2, and
// real ones. `make` returns the whole matrix by rows.
import { createReadStream, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { BINARY32, BINARY64, generalMatrices, laplacians, PLANE, SPACE } from "../dist/report/measure/sparse.js";
import { main } from "./library.mjs";
import { ROOT } from "./provenance.mjs";

const FOLDER = join(ROOT, "../shared/matrices");

/** Groups of matrices, as the paper has them. Every axis of a grid has `scale` times its nodes. */
export function groupsFor(scale) {
  const general = generalMatrices(scale);
  const both = [BINARY64, BINARY32];
  return [
    laplacians(PLANE, 5, scale, both),
    laplacians(PLANE, 9, scale, both),
    laplacians(SPACE, 7, scale, both),
    laplacians(SPACE, 27, scale, both),
    { ...general, matrices: [...general.matrices, ...realMatrices()] },
  ];
}

function realMatrices() {
  const files = existsSync(FOLDER) ? readdirSync(FOLDER).filter((name) => name.endsWith(".mtx")) : [];
  return files.map((name) => ({
    name: name.replace(".mtx", ""),
    make: () => main.readMatrixMarket(createReadStream(join(FOLDER, name), { encoding: "utf8" })),
  }));
}
