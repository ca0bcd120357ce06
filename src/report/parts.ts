// The scales and parts of a report, as the options --quick, --full and --only choose them.
export type Scale = "quick" | "medium" | "full";
export const PARTS = ["bits", "accuracy", "stages", "sparse", "convergence", "solve"] as const;
export type Part = (typeof PARTS)[number];
