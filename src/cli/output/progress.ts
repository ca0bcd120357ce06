import type { Io } from "../command.ts";

const WIDTH = 30;
const FIRST = 500; // milliseconds: what ends before that shows nothing
const EVERY = 100;

/** A line that tells how far long work has come, where a person watches; elsewhere nothing at all. */
export class Progress {
  private readonly start = performance.now();
  private last = this.start + FIRST - EVERY;
  private shown = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly io: Io,
    private readonly what: string,
  ) {}

  /** So much is done: of `total`, where that is known; `now` is what is being done. */
  report(done: number, total: number | undefined, unit = "numbers", now = ""): void {
    if (!this.io.watched || performance.now() - this.last < EVERY) return;
    if (total === undefined) this.show(`${millions(done)} ${unit}`);
    else {
      const part = total === 0 ? 1 : done / total;
      const filled = Math.round(part * WIDTH);
      this.show(`[${"#".repeat(filled)}${" ".repeat(WIDTH - filled)}] ${Math.floor(100 * part)} %${now && `, ${now},`}`);
    }
  }

  /** Of work whose end is not in sight only the time is told, as long as this thread is free to do so. */
  tick(): this {
    if (!this.io.watched) return this;
    this.timer = setInterval(() => performance.now() - this.last >= EVERY && this.show(""), EVERY);
    this.timer.unref();
    return this;
  }

  /** The work is over: the line goes away. */
  end(): void {
    clearInterval(this.timer);
    if (this.shown) this.io.err("\r\x1b[K");
    this.shown = false;
  }

  private show(state: string): void {
    this.last = performance.now();
    this.shown = true;
    this.io.err(`\r\x1b[K${this.what} ${state} ${((this.last - this.start) / 1000).toFixed(1)} s`);
  }
}

function millions(n: number): string {
  return n < 1e6 ? String(n) : `${(n / 1e6).toFixed(1)} million`;
}
