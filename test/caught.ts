// The error that a call throws, for tests that look at more of it than toThrow() does.
import { expect } from "vitest";

/** What a call throws. */
export function caught(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return expect.fail("nothing was thrown");
}
