// Waits for commands, at once or later. Those that wait later take turns: commands finish in order anyway, each wait occupies a thread
// of Node, and koffi allows 256. Called by device.ts.
import type { Wait } from "../../device.ts";
import type { Library } from "./library.ts";
import type { Status } from "./status.ts";

type Command = Library["clFinish"];

export class Waits {
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly status: Status) {}

  /** A wait for a command that blocks. `done` is called when it has succeeded. */
  wait(what: string, command: Command, args: readonly unknown[], done = () => {}): Wait {
    const { status } = this;
    status.checkOpen();
    return {
      now: () => {
        status.checkOpen();
        status.check(what, command(...args));
        done();
      },
      later: async () => {
        status.checkOpen();
        const waiting = this.last.then(() => this.runOnThread(command, args));
        this.last = waiting.catch(() => undefined);
        status.check(what, await waiting);
        done();
        status.checkOpen();
      },
    };
  }

  private runOnThread(command: Command, args: readonly unknown[]): Promise<number> {
    this.status.checkOpen();
    return new Promise((resolve, reject) => {
      command.async(...args, (error: Error | null, code: number) => (error ? reject(error) : resolve(code)));
    });
  }

  /** Resolves when no wait is pending. */
  async finished(): Promise<void> {
    await this.last;
  }
}
