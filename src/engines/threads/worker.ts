// The code of a worker. It sleeps until a job is posted, then runs it; the last worker to finish sends a message to the host (pool.ts).
// The code is JavaScript as text, so that workers start the same way from sources, dist/ and bundles, in Node and in browsers.

/** The control block, in 32-bit words: how many jobs were posted, the address of the current job, how many workers have finished it. */
export const POSTED = 0;
export const ADDRESS = 1;
export const FINISHED = 2;
export const CONTROL_SIZE = 64;

/** The message of a worker that has started. Any other message means that the current job is done. */
export const READY = 0;
const DONE = 1;

export const SOURCE = `"use strict";
const port = typeof require === "function" ? require("node:worker_threads").parentPort : self;
function serve({ module, memory, frame, control, worker, workers, spins, posted }) {
  const sleep = (counter, value) => void Atomics.wait(new Int32Array(memory.buffer), counter >>> 2, value);
  const { exports } = new WebAssembly.Instance(module, { env: { memory, fetch() {}, sleep } });
  exports.setFrame(frame);
  exports.setSpins(spins);
  const words = new Int32Array(memory.buffer, control, 4);
  port.postMessage(${READY});
  for (;;) {
    Atomics.wait(words, ${POSTED}, posted);
    const now = Atomics.load(words, ${POSTED});
    if (now === posted) continue;
    posted = now;
    exports.work(words[${ADDRESS}], worker);
    if (Atomics.add(words, ${FINISHED}, 1) === workers - 1) port.postMessage(${DONE});
  }
}
if (port === globalThis.self) self.onmessage = ({ data }) => serve(data);
else port.once("message", serve);
`;
