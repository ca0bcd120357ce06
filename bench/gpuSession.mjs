// What session.mjs gives every benchmark, with the options of this one taken first.
export { chosenDevice, chosenOf } from "./gpuOptions.mjs";
export { originOf, printLimits, quick, rounds, save } from "./session.mjs";
