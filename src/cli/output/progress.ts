// The progress line on a terminal.
import type { Io } from "../command.ts";

const WIDTH = 30;
const DELAY = 500; // milliseconds: shorter work shows nothing
const INTERVAL = 100;

/** Shows the progress of long work if stderr is a terminal; otherwise prints nothing. */
export class Progress {
  private readonly start = performance.now();
  private last = this.start + DELAY - INTERVAL;
  private shown = false;
  private state = "";
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly io: Io,
    private readonly task: string,
  ) {}

  /** Reports how much is done, out of `total` if that is known; `step` names the current step. */
  report(done: number, total: number | undefined, unit = "numbers", step = ""): void {
    if (!this.io.isTerminal || performance.now() - this.last < INTERVAL) return;
    if (total === undefined) this.show(`${millions(done)} ${unit}`);
    else {
      const fraction = total === 0 ? 1 : done / total;
      const filled = Math.round(fraction * WIDTH);
      this.show(`[${"#".repeat(filled)}${" ".repeat(WIDTH - filled)}] ${Math.floor(100 * fraction)} %${step && `, ${step},`}`);
    }
  }

  /** Keeps the elapsed time current between reports, whenever this thread is free. */
  tick(): this {
    if (!this.io.isTerminal) return this;
    this.timer = setInterval(() => performance.now() - this.last >= INTERVAL && this.show(this.state), INTERVAL);
    this.timer.unref();
    return this;
  }

  /** Removes the line. */
  end(): void {
    clearInterval(this.timer);
    if (this.shown) this.io.err("\r\x1b[K");
    this.shown = false;
  }

  private show(state: string): void {
    this.last = performance.now();
    this.shown = true;
    this.state = state;
    this.io.err(`\r\x1b[K${this.task} ${state} ${((this.last - this.start) / 1000).toFixed(1)} s`);
  }
}

function millions(n: number): string {
  return n < 1e6 ? String(n) : `${(n / 1e6).toFixed(1)} million`;
}
