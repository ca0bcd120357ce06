// What operations of measurements are called in the library.
const ROUTINES: Readonly<Record<string, string>> = { luSolve: "LU.solve", solve: "exlu and solve", "solve()": "solve", sptrsv: "sptrsv" };

export function routineOf(operation: string): string {
  return ROUTINES[operation] ?? `ex${operation}`;
}
