// The OpenCL C of the iterative solvers, with the layout of their state in front of it.
import { defineText } from "../device/defines.ts";
import { certificate } from "../exact/sources.ts";
import { DEFINES } from "./layout.ts";
import { finish as source, vectors } from "./sources.generated.ts";

export const finish = defineText(DEFINES) + source;
export const updateSources = [certificate, finish, vectors];
