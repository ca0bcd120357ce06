// Events: how the queues of a device wait for each other, and reads for part of a queue. Called by device.ts.
import type { DeviceEvent } from "../../device.ts";
import type { Handle, Library } from "./library.ts";
import type { Status } from "./status.ts";

class Event implements DeviceEvent {
  readonly kind = "event";

  constructor(readonly handle: Handle) {}
}

export class Events {
  private readonly unused = new Set<Handle>();

  constructor(
    private readonly cl: Library,
    private readonly status: Status,
  ) {}

  /** An event at the end of this queue. */
  create(queue: Handle): DeviceEvent {
    const place = new BigUint64Array(1);
    this.status.check("event", this.cl.clEnqueueMarkerWithWaitList(queue, 0, null, place));
    const handle = place[0] as Handle;
    this.unused.add(handle);
    this.status.check("event", this.cl.clFlush(queue)); // without this a wait for it might never end
    return new Event(handle);
  }

  /** Later commands of this queue wait for an event. */
  waitFor(queue: Handle, event: DeviceEvent): void {
    this.status.check("waitFor", this.cl.clEnqueueBarrierWithWaitList(queue, 1, this.waitList(event), null));
    this.release(event);
  }

  /** An event as the wait list of a command. Release it when the command has been given or has finished. */
  waitList(event: DeviceEvent): BigUint64Array {
    return BigUint64Array.of((event as Event).handle);
  }

  release(event: DeviceEvent): void {
    const { handle } = event as Event;
    if (this.unused.delete(handle)) this.cl.clReleaseEvent(handle);
  }

  releaseAll(): void {
    for (const handle of this.unused) this.cl.clReleaseEvent(handle);
    this.unused.clear();
  }
}
