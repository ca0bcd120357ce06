/** The module of this name. */
export function importByName(name: string): Promise<unknown>;
