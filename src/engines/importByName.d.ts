// Types of importByName.js, which explains why it is plain JavaScript. threads/spawn.ts and the OpenCL engine call it.

/** Imports the module of this name. */
export function importByName(name: string): Promise<unknown>;
