// The stages of the papers as parameters of expansion.cl.
import type { ExactStage } from "../../kernels.ts";

/** Definitions for a stage: the superaccumulator, or an expansion of 2 to 8 components, with or without early exit. */
export const stageDefines = (stage: ExactStage): Record<string, number> => ({
  COMPONENTS: stage === "superaccumulator" ? 0 : Number(stage[3]),
  ...(stage.endsWith("ee") ? { EARLY: 1 } : {}),
});
