// Members of .npz files, which numpy.savez and numpy.savez_compressed write: a .npy file each, in a ZIP archive. numbers.ts opens them.
import type { FileHandle } from "node:fs/promises";
import { quoted } from "../../files/lines.ts";
import { UsageError } from "../command.ts";
import { type Archive, type Member, memberBytes, membersOf } from "./zip.ts";

const NPY = /\.npy$/i;

/** A member of an .npz file: its size, and its bytes as often as they are asked for. */
export interface NpzMember {
  readonly size: number;
  bytes(): AsyncGenerator<Uint8Array>;
}

/** The member of this name, with or without .npy, or the only one. */
export async function npzMember(path: string, handle: FileHandle, size: number, name: string | undefined): Promise<NpzMember> {
  const archive: Archive = { path, handle, size };
  const arrays = (await membersOf(archive)).filter((member) => NPY.test(member.name));
  const named = name === undefined ? arrays : arrays.filter((member) => member.name === name || member.name.replace(NPY, "") === name);
  const [member] = named;
  if (member === undefined || named.length > 1) throw notOne(path, name, arrays, named.length);
  return { size: member.size, bytes: () => memberBytes(archive, member) };
}

function notOne(path: string, name: string | undefined, arrays: readonly Member[], found: number): UsageError {
  const names = arrays.slice(0, 20).map((member) => quoted(member.name.replace(NPY, "")));
  const all = names.length === 0 ? "it has no arrays" : `it has ${names.join(", ")}${arrays.length > 20 ? ", …" : ""}`;
  if (name !== undefined) return new UsageError(`${path}: ${found} members are named ${quoted(name)}, expected one (${all})`);
  return new UsageError(`${path}: ${arrays.length} members, expected one, or a name as in ${path}:NAME (${all})`);
}
