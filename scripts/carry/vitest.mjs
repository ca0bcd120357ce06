// The part of Vitest that the tests use, for a machine where nothing can be installed: its own expect, and a collector of tests
// for run.mjs.
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

/** Suites in the order of their definition: { name, skipped, tests, before, after }. */
export const suites = [];
let suite;

/** Start a suite: the tests defined next belong to it. */
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

// The name of a test or suite with the values of its case.
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
