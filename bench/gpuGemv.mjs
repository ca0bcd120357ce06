// exgemv, square and with panels, as it is and transposed, beside plain kernels and cuBLAS.
import { withData } from "./gpuData.mjs";
import { measureDense, ORDERS, ourRival, peerRivals, stageRivals } from "./gpuDense.mjs";
import { entriesOf, transposed } from "./gpuOurs.mjs";
import { PLAIN } from "./gpuPlain.mjs";

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
  const [x, y] = [data.vector(trans ? rows : cols, 2), data.room(trans ? cols : rows)];
  const entries = trans ? transposed(entriesOf(A, cols, rows)) : entriesOf(A, cols, rows);
  const rivals = [
    plainRival(gpu, data, { rows, cols, trans }, A, x, y),
    ourRival(gpu, data, "exgemv", () => gpu.ours.gemv(entries, x.here, y.here), y),
    // They have a work-group for each row, and rows without gaps.
    ...(trans && rows === cols ? stageRivals(gpu, data, (stage) => gpu.ours.gemvBy(stage, entries, x.here, y.here), y) : []),
    ...peerRivals(gpu, data, "blas", "cuBLAS Dgemv", (blas) => blas.gemv(trans, rows, cols, A.there, x.there, y.there), y),
  ];
  return measureDense(gpu, { op: "gemv", form: trans ? "transposed" : "as it is", rows, cols, bytes: 8 * rows * cols }, rivals);
}

function plainRival({ device, ours }, data, { rows, cols, trans }, A, x, y) {
  const [lines, across, parts] = ["plainLines", "plainAcross", "plainParts"].map((name) => device.kernel(name, [PLAIN]));
  const groups = Math.ceil(rows / GROUP);
  const some = Math.min(PARTS, cols);
  const sums = trans ? undefined : data.room(some * rows);
  const enqueue = trans
    ? () => device.launch(lines, [cols], [GROUP], [rows, A.buffer, x.buffer, y.buffer, { local: 8 * GROUP }])
    : () => {
        device.launch(across, [groups, some], [GROUP, 1], [cols, rows, A.buffer, x.buffer, sums.buffer]);
        device.launch(parts, [groups], [GROUP], [some, rows, sums.buffer, y.buffer]);
      };
  return { name: "plain kernel", enqueue, finish: ours.finish, read: () => data.read(y) };
}
