// What the tests use of Vitest, for a machine to which nothing can be installed: its own expect, and as much of its runner as
// collects tests.
import {
  Any,
  Anything,
  ArrayContaining,
  GLOBAL_EXPECT,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  ObjectContaining,
  StringContaining,
  StringMatching,
  setState,
} from "@vitest/expect";
import * as chai from "chai";

for (const plugin of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(plugin);

export const expect = Object.assign((value, message) => chai.expect(value, message), {
  fail: (message) => chai.assert.fail(message),
  any: (type) => new Any(type),
  anything: () => new Anything(),
  arrayContaining: (sample) => new ArrayContaining(sample),
  objectContaining: (sample) => new ObjectContaining(sample),
  stringContaining: (sample) => new StringContaining(sample),
  stringMatching: (sample) => new StringMatching(sample),
});
globalThis[GLOBAL_EXPECT] = expect;
setState({ assertionCalls: 0 }, expect);

/** Suites in the order in which they were found: { name, skipped, tests, before, after }. */
export const suites = [];
let suite;

/** The tests of a file come after those of the files before it. */
export function begin(name) {
  suite = { name, skipped: false, tests: [], before: [], after: [] };
  suites.push(suite);
}

function addSuite(name, body, skipped) {
  const outer = suite;
  begin(`${outer.name} > ${name}`);
  suite.skipped = outer.skipped || skipped;
  body();
  suite = outer;
}

function addTest(name, body, skipped) {
  suite.tests.push({ name, body, skipped: suite.skipped || skipped });
}

// A test or a suite for each case, with the case in its name.
function titled(name, one, i) {
  const values = [one].flat(1);
  return name
    .replace(/%[sdifjo]/g, () => String(values.shift()))
    .replace(/\$([\w.]+)/g, (_, path) => path.split(".").reduce((value, key) => value?.[key], one))
    .replace("%#", i);
}

function adding(add, skipped = false) {
  return Object.assign((name, body) => add(name, body, skipped), {
    each: (cases) => (name, body) =>
      cases.forEach((one, i) => {
        add(titled(name, one, i), () => (Array.isArray(one) ? body(...one) : body(one)), skipped);
      }),
    skipIf: (condition) => adding(add, skipped || Boolean(condition)),
  });
}

export const describe = adding(addSuite);
export const test = adding(addTest);
export const it = test;
export const beforeAll = (hook) => suite.before.push(hook);
export const afterAll = (hook) => suite.after.push(hook);
