// The plotting library and the document it draws in. scripts/bundle.mjs bundles both, with their dependencies, into this one file, so
// that the package depends on neither. Only the report loads it.
import { parseHTML } from "linkedom";

export { axisX, axisY, barX, dot, gridX, gridY, line, plot, ruleX, ruleY, text } from "@observablehq/plot";
export const { document } = parseHTML("<!doctype html><html><body></body></html>");
