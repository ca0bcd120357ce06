// Constants of the host as text for kernel sources, so that a layout that both sides use is stated once. Called by the sources.ts files.

/** Macro definitions of these constants, to put in front of a source. */
export const defineText = (constants: Readonly<Record<string, number>>): string =>
  Object.entries(constants)
    .map(([name, value]) => `#define ${name} (${value})\n`)
    .join("");
