// The members of a ZIP archive, which is what an .npz file is: PKWARE, APPNOTE.TXT 6.3.10, sections 4.3 and 4.5.3, without encryption,
// parts and methods other than stored and deflated. npz.ts reads them.
import type { FileHandle } from "node:fs/promises";
import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { FormatError } from "../../arrays/errors.ts";
import { quoted } from "../../files/lines.ts";

/** A file in an archive. */
export interface Member {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly isDeflated: boolean;
  readonly storedSize: number;
  /** The CRC-32 of its bytes. */
  readonly crc: number;
  /** Where its own header begins in the archive. */
  readonly at: number;
}

/** An archive that was opened. */
export interface Archive {
  /** For error messages. */
  readonly path: string;
  readonly handle: FileHandle;
  readonly size: number;
}

const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const MAX_COMMENT = 0xffff;
const MAX_DIRECTORY = 2 ** 26; // bytes, for half a million members
const DEFLATED = 8;
const MAX_RATIO = 1032; // of deflate: 258 bytes of 2 bits

const fail = (path: string, found: string, expected: string): never => {
  throw new FormatError(`${path}: ${found}, expected ${expected}`);
};

/** The members of an archive, in the order of its directory. */
export async function membersOf(archive: Archive): Promise<Member[]> {
  const { path } = archive;
  const { count, length, at } = await findDirectory(archive);
  if (length > MAX_DIRECTORY) fail(path, `a directory of ${length} bytes`, `at most ${MAX_DIRECTORY}`);
  const view = await readAt(archive, at, length, "the directory");
  const members: Member[] = [];
  for (let k = 0, from = 0; k < count; k++) {
    if (from + 46 > length || view.getUint32(from, true) !== ENTRY) fail(path, `no entry ${k + 1} in the directory`, `${count} entries`);
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => view.getUint16(from + offset, true)) as [
      number,
      number,
      number,
    ];
    const end = from + 46 + nameLength + extraLength + commentLength;
    if (end > length) fail(path, `an incomplete entry ${k + 1} in the directory`, `${count} entries`);
    const name = new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset + from + 46, nameLength));
    const extra = new DataView(view.buffer, view.byteOffset + from + 46 + nameLength, extraLength);
    members.push(memberOf(archive, name, new DataView(view.buffer, view.byteOffset + from, 46), extra));
    from = end;
  }
  return members;
}

function memberOf({ path, size: total }: Archive, name: string, entry: DataView, extra: DataView): Member {
  const [flags, method] = [entry.getUint16(8, true), entry.getUint16(10, true)];
  const member = quoted(name);
  if (flags & 1) fail(path, `the encrypted member ${member}`, "one that is not");
  if (method !== 0 && method !== DEFLATED) fail(path, `the member ${member}, compressed by method ${method}`, "0 (stored) or 8 (deflated)");
  // Sizes and places that do not fit into 32 bits are in an extra field, those that do not fit only.
  const long = longNumbers(extra);
  const [size, storedSize, at] = [24, 20, 42].map((offset) => {
    const value = entry.getUint32(offset, true);
    return value === 0xffffffff ? (long.shift() ?? value) : value;
  }) as [number, number, number];
  const isDeflated = method === DEFLATED;
  if (!(at + storedSize <= total)) fail(path, `the member ${member} from byte ${at} to ${at + storedSize}`, `at most ${total}`);
  if (isDeflated ? size > MAX_RATIO * storedSize : size !== storedSize)
    fail(path, `the member ${member} of ${size} bytes in ${storedSize}`, `at most ${isDeflated ? MAX_RATIO * storedSize : storedSize}`);
  return { name, size, isDeflated, storedSize, crc: entry.getUint32(16, true), at };
}

// The 64-bit numbers of extra field 1.
function longNumbers(extra: DataView): number[] {
  for (let at = 0; at + 4 <= extra.byteLength; ) {
    const [id, length] = [extra.getUint16(at, true), extra.getUint16(at + 2, true)];
    if (id === 1 && at + 4 + length <= extra.byteLength)
      return Array.from({ length: length >> 3 }, (_, k) => Number(extra.getBigUint64(at + 4 + 8 * k, true)));
    at += 4 + length;
  }
  return [];
}

// The end of an archive says where its directory is. A comment may follow.
async function findDirectory(archive: Archive): Promise<{ count: number; length: number; at: number }> {
  const { path, size } = archive;
  const length = Math.min(size, 22 + MAX_COMMENT);
  const tail = await readAt(archive, size - length, length, "the end");
  let from = length - 22;
  while (from >= 0 && !(tail.getUint32(from, true) === END && from + 22 + tail.getUint16(from + 20, true) === length)) from--;
  if (from < 0) fail(path, "no end of a ZIP archive", "an .npz file (it may be cut off)");
  const short = { count: tail.getUint16(from + 10, true), length: tail.getUint32(from + 12, true), at: tail.getUint32(from + 16, true) };
  const end = size - length + from;
  if (short.count !== 0xffff && short.length !== 0xffffffff && short.at !== 0xffffffff) return short;
  const locator = end < 20 ? undefined : await readAt(archive, end - 20, 20, "the end");
  if (locator?.getUint32(0, true) !== LOCATOR_64) return short;
  const record = await readAt(archive, Number(locator.getBigUint64(8, true)), 56, "the end");
  if (record.getUint32(0, true) !== END_64) fail(path, "no record of 64-bit sizes", "one before the end of the archive");
  return {
    count: Number(record.getBigUint64(32, true)),
    length: Number(record.getBigUint64(40, true)),
    at: Number(record.getBigUint64(48, true)),
  };
}

/** The bytes of a member. They are complete and have the right checksum, or the last step throws. */
export async function* memberBytes(archive: Archive, member: Member): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  pipeline(Readable.from(asGzip(archive, member)), gunzip, () => {}); // errors come out of gunzip
  try {
    yield* gunzip;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code?.startsWith("Z_")) throw error;
    fail(archive.path, `the member ${quoted(member.name)} is damaged (${message})`, "one that can be decompressed");
  }
}

const PIECE = 2 ** 16 - 1; // bytes that a stored block of deflate can hold

// A gzip file with the bytes of a member, so that zlib checks size and checksum. What is not compressed becomes stored blocks.
async function* asGzip(archive: Archive, { name, at, isDeflated, storedSize, crc, size }: Member): AsyncGenerator<Uint8Array> {
  const local = await readAt(archive, at, 30, `the member ${quoted(name)}`);
  if (local.getUint32(0, true) !== LOCAL) fail(archive.path, `no member ${quoted(name)} at byte ${at}`, "it there");
  const start = at + 30 + local.getUint16(26, true) + local.getUint16(28, true);
  yield Uint8Array.of(0x1f, 0x8b, DEFLATED, 0, 0, 0, 0, 0, 0, 255);
  for (let from = 0; from < storedSize; from += PIECE) {
    const length = Math.min(PIECE, storedSize - from);
    if (!isDeflated) yield Uint8Array.of(0, length & 255, length >> 8, ~length & 255, (~length >> 8) & 255);
    const { buffer } = await readAt(archive, start + from, length, `the member ${quoted(name)}`);
    yield new Uint8Array(buffer);
  }
  if (!isDeflated) yield Uint8Array.of(1, 0, 0, 255, 255);
  const trailer = new DataView(new ArrayBuffer(8));
  trailer.setUint32(0, crc, true);
  trailer.setUint32(4, size % 2 ** 32, true);
  yield new Uint8Array(trailer.buffer);
}

async function readAt({ path, handle, size }: Archive, from: number, length: number, what: string): Promise<DataView<ArrayBuffer>> {
  if (!(from + length <= size)) fail(path, `${what} from byte ${from} to ${from + length}`, `at most ${size} (the file may be cut off)`);
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await handle.read(bytes, at, length - at, from + at);
    if (bytesRead === 0) fail(path, `${what} ends at byte ${from + at}`, `${length - at} more`);
    at += bytesRead;
  }
  return new DataView(bytes.buffer);
}
