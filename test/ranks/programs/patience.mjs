// Prints how long the waits of each rank spin, in ms: it depends on whether every rank has a core.
import { Communicator } from "../../../dist/ranks/mpi/communicator.js";
import { processors } from "../../../dist/ranks/mpi/processors.js";

const ranks = await Communicator.open(undefined);
console.log(JSON.stringify({ spin: ranks.patience.spin, processors: processors().length }));
await ranks.close();
