// What a report can be asked for.
export type Scale = "quick" | "medium" | "full";
export const PARTS = ["bits", "accuracy", "stages", "sparse", "solve"] as const;
export type Part = (typeof PARTS)[number];
