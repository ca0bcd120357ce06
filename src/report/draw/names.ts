// The library's names for the operations in measurements.
const ROUTINES: Readonly<Record<string, string>> = { luSolve: "LU.solve", solve: "exlu and solve", "solve()": "solve", sptrsv: "sptrsv" };

export function routineOf(operation: string): string {
  return ROUTINES[operation] ?? `ex${operation}`;
}
