// A fault on purpose, to see that it is found: routines of which one flips the last bit of a result. No part of the package; run.mjs and
// the fuzzer put it around an engine when they are asked to, and the tests ask.

/** The routines, with a wrong bit in the result of every `period`-th call of one of them. Engines without it (statistics) stay right. */
export function withFault(routines, { routine, period = 7 }) {
  if (!routines[routine]) return routines;
  let calls = 0;
  const method = routines[routine].bind(routines);
  const wrong = async (...args) => {
    const result = await method(...args);
    return ++calls % period === 0 ? flipped(result) : result;
  };
  return new Proxy(routines, { get: (target, name) => (name === routine ? wrong : target[name]) });
}

/** The result with another last bit: in place where it is an array or has one. */
function flipped(result) {
  if (typeof result === "number") {
    const numbers = Float64Array.of(result);
    new Uint8Array(numbers.buffer)[0] ^= 1;
    return numbers[0];
  }
  const array = [result, result.data, result.x, result.lu?.data, result.lu, result.values].find(ArrayBuffer.isView);
  const bytes = array && new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  if (bytes?.length > 0) bytes[0] ^= 1;
  return result;
}
