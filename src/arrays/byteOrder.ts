// The byte order of this machine. Files and saved accumulators are little-endian on every machine; engines that share memory with
// JavaScript (WebAssembly, OpenCL) run only on little-endian machines.

/** Whether this machine stores the least significant byte first. */
export const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
