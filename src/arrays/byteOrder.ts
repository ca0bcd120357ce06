// The byte order of this machine. Files and accumulators are little-endian on every machine; engines that share memory with JavaScript
// (WebAssembly, OpenCL) need a machine that is little-endian itself.

/** Whether this machine stores the last byte of a number first. */
export const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
