// exgemv, square and with panels, A and its transpose, beside plain kernels and cuBLAS, for gpu.mjs.

import { PLAIN } from "../peers/opencl/kernels.mjs";
import { withData } from "./data.mjs";
import { measureDense, ORDERS, ourRival, peerRivals, stageRivals } from "./dense.mjs";

const GROUP = 256;
const PARTS = 64;

export async function* measureGemv(gpu) {
  const { gemv: n, panel } = ORDERS;
  const long = 16 * n;
  for (const [rows, cols] of [
    [n, n],
    [long, panel],
    [panel, long],
  ])
    for (const trans of [false, true]) yield await withData(gpu, (data) => measure(gpu, data, rows, cols, trans));
}

function measure(gpu, data, rows, cols, trans) {
  const A = data.matrix(cols, rows);
  const [x, y] = [data.vector(trans ? rows : cols, 2), data.allocate(trans ? cols : rows)];
  const entries = trans ? gpu.device.matrix(A.array, cols, rows, "row") : gpu.device.matrix(A.array, rows, cols, "column");
  const rivals = [
    plainRival(gpu, data, { rows, cols, trans }, A, x, y),
    ourRival(gpu, data, "exgemv", () => gpu.device.gemv(entries, x.array, y.array), y),
    // The stages use a work-group per row, and contiguous rows.
    ...(trans && rows === cols ? stageRivals(gpu, data, (stage) => gpu.device.gemvBy(stage, entries, x.array, y.array), y) : []),
    ...peerRivals(gpu, data, "blas", "cuBLAS Dgemv", (blas) => blas.gemv(trans, rows, cols, A.cuda, x.cuda, y.cuda), y),
  ];
  return measureDense(gpu, { op: "gemv", form: trans ? "transposed" : "as it is", rows, cols, bytes: 8 * rows * cols }, rivals);
}

function plainRival({ device }, data, { rows, cols, trans }, A, x, y) {
  const [lines, across, parts] = ["plainLines", "plainAcross", "plainParts"].map((name) => device.kernel(name, PLAIN));
  const groups = Math.ceil(rows / GROUP);
  const count = Math.min(PARTS, cols);
  const sums = trans ? undefined : data.allocate(count * rows);
  const enqueue = trans
    ? () => device.launch(lines, [cols], [GROUP], [rows, A.buffer, x.buffer, y.buffer, { localBytes: 8 * GROUP }])
    : () => {
        device.launch(across, [groups, count], [GROUP, 1], [cols, rows, A.buffer, x.buffer, sums.buffer]);
        device.launch(parts, [groups], [GROUP], [count, rows, sums.buffer, y.buffer]);
      };
  return { name: "plain kernel", enqueue, finish: () => device.finish(), read: () => data.read(y) };
}
