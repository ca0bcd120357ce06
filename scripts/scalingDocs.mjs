// Generates the tables of docs/mpi-scaling.md with the model of bench/ranks/model.mjs. `npm run docs` runs it. With --check it writes nothing,
// and exits with 1 if the page is out of date.
import { tables } from "../bench/ranks/model.mjs";
import { fillTables } from "./docTables.mjs";

fillTables("docs/mpi-scaling.md", tables());
