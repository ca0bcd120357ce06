// The matrices of sparseTables.mjs, each { name, make, ... }: the grids of Table 5.1 of the sparse paper, substitutes for those of its
// Table 5.2, and matrices from files. `make` returns the whole matrix by rows.
import { createReadStream, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { main, measurements } from "../harness/library.mjs";
import { ROOT } from "../harness/provenance.mjs";

const { BINARY32, BINARY64, generalMatrices, laplacians, PLANE, SPACE } = measurements.sparse;
const FOLDER = join(ROOT, "../shared/matrices");

/** Groups of matrices as in the paper. Every axis of a grid has `scale` times its nodes. */
export function groupsFor(scale) {
  const general = generalMatrices(scale);
  const both = [BINARY64, BINARY32];
  return [
    laplacians(PLANE, 5, scale, both),
    laplacians(PLANE, 9, scale, both),
    laplacians(SPACE, 7, scale, both),
    laplacians(SPACE, 27, scale, both),
    { ...general, matrices: [...general.matrices, ...matricesFromFiles()] },
  ];
}

function matricesFromFiles() {
  const files = existsSync(FOLDER) ? readdirSync(FOLDER).filter((name) => name.endsWith(".mtx")) : [];
  return files.map((name) => ({
    name: name.replace(".mtx", ""),
    make: () => main.readMatrixMarket(createReadStream(join(FOLDER, name), { encoding: "utf8" })),
  }));
}
