// Exact solutions and the errors of computed ones, where the package has them.
export { exactSolve, relativeError } from "../dist/report/measure/exactErrors.js";
