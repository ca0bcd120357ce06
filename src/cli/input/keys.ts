// Numbers the groups of a table: the combinations of cells in the columns of --by, found by a hash of the bytes of a cell. Cells with
// different bytes may have the same text ("a" and a): they are one group. scan.ts looks up every row.

const NONE = -1;

/** A tree of cells: those of the first column, below each of them those of the second, and so on. A group is a leaf. */
export class Keys {
  // A hash table with open addressing: 1 + the index of an entry, or 0.
  private slots = new Int32Array(1024);
  private count = 0;
  // The entries: the bytes of a cell, the node it is below, and the node or group that it stands for.
  private parents = new Int32Array(256);
  private hashes = new Int32Array(256);
  private found = new Int32Array(256);
  private starts = new Int32Array(256 + 1); // where the bytes of each begin, and the end
  private bytes = new Uint8Array(2 ** 12);
  // The nodes.
  private readonly nodes: { readonly parent: number; readonly text: string }[] = [];
  private readonly named = new Map<string, number>(); // by parent and text
  private readonly leaves: number[] = []; // the nodes of the groups

  /** `columns` is the number of columns; `textOf` turns the bytes of a cell into its text. */
  constructor(
    private readonly columns: number,
    private readonly textOf: (bytes: Uint8Array) => string,
  ) {}

  /** How many groups there are. */
  get groups(): number {
    return this.leaves.length;
  }

  /** The texts of a group, column by column. */
  textsOf(group: number): string[] {
    const texts: string[] = [];
    for (let node = this.leaves[group] as number; node !== NONE; ) {
      const { parent, text } = this.nodes[node] as { parent: number; text: string };
      texts.unshift(text);
      node = parent;
    }
    return texts;
  }

  /**
   * The node of a cell below a node of the column before it (-1 in the first column), in the last column its group; -1 if the cell is
   * empty. The cell is bytes[from] to bytes[to - 1], with this hash.
   */
  find(parent: number, column: number, bytes: Uint8Array, from: number, to: number, hash: number): number {
    const { slots, hashes, parents, starts, bytes: stored } = this;
    const mask = slots.length - 1;
    for (let slot = placeOf(hash, parent) & mask; ; slot = (slot + 1) & mask) {
      const entry = (slots[slot] as number) - 1;
      if (entry < 0) return this.insert(parent, column, bytes.subarray(from, to), hash, slot);
      if (hashes[entry] !== hash || parents[entry] !== parent) continue;
      let at = starts[entry] as number;
      if ((starts[entry + 1] as number) - at !== to - from) continue;
      let i = from;
      while (i < to && stored[at] === bytes[i]) {
        i++;
        at++;
      }
      if (i === to) return this.found[entry] as number;
    }
  }

  /** The same by the text of the cell. */
  findText(parent: number, column: number, text: string): number {
    if (text === "") return NONE;
    const name = `${parent} ${text}`;
    let found = this.named.get(name);
    if (found === undefined) {
      const node = this.nodes.push({ parent, text }) - 1;
      found = column === this.columns - 1 ? this.leaves.push(node) - 1 : node;
      this.named.set(name, found);
    }
    return found;
  }

  private insert(parent: number, column: number, cell: Uint8Array, hash: number, slot: number): number {
    const found = this.findText(parent, column, this.textOf(cell));
    const entry = this.count++;
    const start = this.starts[entry] as number;
    if (entry === this.found.length) {
      for (const name of ["parents", "hashes", "found"] as const) this[name] = grown(this[name], 2 * entry);
      this.starts = grown(this.starts, 2 * entry + 1);
    }
    if (start + cell.length > this.bytes.length) this.bytes = grown(this.bytes, 2 * (start + cell.length));
    this.bytes.set(cell, start);
    this.starts[entry + 1] = start + cell.length;
    this.parents[entry] = parent;
    this.hashes[entry] = hash;
    this.found[entry] = found;
    this.slots[slot] = entry + 1;
    if (2 * this.count > this.slots.length) this.rehash();
    return found;
  }

  private rehash(): void {
    this.slots = new Int32Array(2 * this.slots.length);
    const mask = this.slots.length - 1;
    for (let entry = 0; entry < this.count; entry++) {
      let slot = placeOf(this.hashes[entry] as number, this.parents[entry] as number) & mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
      this.slots[slot] = entry + 1;
    }
  }
}

// The hash (FNV-1a) is weak in its low bits.
const placeOf = (hash: number, parent: number): number => hash ^ (hash >>> 15) ^ Math.imul(parent, 0x9e3779b1);

function grown(array: Int32Array, length: number): Int32Array<ArrayBuffer>;
function grown(array: Uint8Array, length: number): Uint8Array<ArrayBuffer>;
function grown(array: Int32Array | Uint8Array, length: number): Int32Array | Uint8Array {
  const larger = array instanceof Int32Array ? new Int32Array(length) : new Uint8Array(length);
  larger.set(array);
  return larger;
}
