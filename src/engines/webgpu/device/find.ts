// Finds an adapter and asks it for a device with all that it has to offer. Called by ../index.ts.
import { EngineError } from "../../../arrays/errors.ts";
import { findGpu, type Gpu, type GpuAdapter, type GpuDevice, type PowerPreference } from "./gpu.ts";

/** Which adapter to use. */
export interface AdapterChoice {
  /** Its place in the list of adapters that the browser or Dawn offers, or a part of its name; default: the first. */
  readonly adapter?: string | number | undefined;
  /** What the list begins with; default: "high-performance". */
  readonly powerPreference?: PowerPreference | undefined;
}

/** An adapter with its name. */
export interface FoundAdapter {
  readonly gpu: Gpu;
  readonly adapter: GpuAdapter;
  readonly name: string;
}

const INSTALL =
  "on Linux it needs a Vulkan driver and its loader (on Debian: apt-get install libvulkan1, and mesa-vulkan-drivers or the GPU's own driver)";

/**
 * The adapter of this choice. There is no list of adapters in WebGPU: it consists of those that the three ways to ask for one return, each
 * once.
 */
export async function findAdapter({ adapter: choice, powerPreference = "high-performance" }: AdapterChoice = {}): Promise<FoundAdapter> {
  const gpu = await findGpu();
  const other = powerPreference === "low-power" ? "high-performance" : "low-power";
  const requests = [{ powerPreference }, { powerPreference: other }, { forceFallbackAdapter: true }] as const;
  const found: FoundAdapter[] = [];
  for (const request of requests) {
    const adapter = await gpu.requestAdapter(request).catch(() => null);
    if (!adapter) continue;
    const name = nameOf(adapter);
    if (!found.some((each) => each.name === name)) found.push({ gpu, adapter, name });
    const chosen = pick(found, choice);
    if (chosen) return chosen;
  }
  if (found.length === 0)
    throw new EngineError(`webgpu: there is no adapter${isNode() ? `; ${INSTALL}` : ", or this browser does not offer it"}`);
  const names = found.map(({ name }, i) => `${i} (${name})`).join(", ");
  throw new EngineError(`webgpu: there is no adapter ${JSON.stringify(choice)}, expected one of ${names}`);
}

const isNode = (): boolean => (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node !== undefined;

function pick(found: readonly FoundAdapter[], choice: string | number | undefined): FoundAdapter | undefined {
  if (typeof choice === "string") return found.find(({ name }) => name.toLowerCase().includes(choice.toLowerCase()));
  return found[choice ?? 0];
}

function nameOf({ info }: GpuAdapter): string {
  const parts = [info.vendor, info.architecture].filter((part) => part !== "").join(" ");
  return info.device || info.description || parts || "an adapter without a name";
}

// What the engine can use, where the adapter has it: times of commands, for benchmarks.
const FEATURES = ["timestamp-query"];

// Limits that the engine uses. The default of a limit is what every adapter has; some have much more.
const LIMITS = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxStorageBuffersPerShaderStage",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupSizeY",
];

/** A device of this adapter, with its limits. */
export async function requestDevice({ adapter, name }: FoundAdapter): Promise<GpuDevice> {
  const requiredLimits: Record<string, number> = {};
  for (const limit of LIMITS) requiredLimits[limit] = adapter.limits[limit] as number;
  try {
    return await adapter.requestDevice({ requiredLimits, requiredFeatures: FEATURES.filter((feature) => adapter.features.has(feature)) });
  } catch (cause) {
    throw new EngineError(`webgpu: ${name} refused a device (${(cause as Error).message})`, { cause });
  }
}
