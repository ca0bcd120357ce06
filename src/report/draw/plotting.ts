// The plotting library and the document it draws in, in one place: the build puts both with what they need into one file, so
// that the package itself depends on neither. Loaded by the report alone.
import { parseHTML } from "linkedom";

export { axisX, axisY, barX, dot, gridX, gridY, line, plot, ruleX, ruleY, text } from "@observablehq/plot";
export const { document } = parseHTML("<!doctype html><html><body></body></html>");
