/**
 * Compound files, the container of Office formats from before 2007: streams of sectors, chained by
 * an allocation table, named in a directory tree. Every chain is bounded by the file size, so a
 * forged one ends.
 */
import { damaged } from '../refuse.ts';

export interface Ole {
  /** Paths such as `WordDocument` or `__attach_version1.0_#00000000/__substg1.0_3001001F`. */
  readonly names: readonly string[];
  /** Undefined if there is no such stream. */
  readonly read: (name: string) => Buffer | undefined;
}

/** The available bytes of some streams, and the bytes that the directory states. */
export interface OleExtent {
  readonly found: number;
  readonly stated: number;
}

export interface OleFile extends Ole {
  /** The streams of a truncated file are read as far as they go: this reports how far. */
  readonly extentOf: (names: readonly string[]) => OleExtent;
  /** The directory refers to entries that do not exist. */
  readonly isCutOff: boolean;
}

const noSector = 0xfffffffa;
const noEntry = 0xffffffff;
const headerSlots = 109;
const entryBytes = 128;
const miniBytes = 64;
const entriesMax = 100_000;
const kinds = { storage: 1, stream: 2, root: 5 };

interface Entry {
  readonly name: string;
  readonly kind: number;
  readonly left: number;
  readonly right: number;
  readonly child: number;
  readonly start: number;
  readonly size: number;
}

export function openOle(bytes: Uint8Array): OleFile {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.length < 512) throw damaged('the container was cut off');
  const sectorBytes = 2 ** Math.min(file.readUInt16LE(30), 12);
  const large: Sectors = {
    table: allocationOf(file, sectorBytes),
    at: (sector) => sectorOf(file, sector, sectorBytes),
  };
  const entries = entriesOf(follow(large, file.readUInt32LE(48)));
  const { paths, isCutOff } = pathsOf(entries);
  const [root] = entries;
  const miniMax = file.readUInt32LE(56);
  const mini = root?.kind === kinds.root ? follow(large, root.start) : Buffer.alloc(0);
  const small: Sectors = {
    table: numbersOf(follow(large, file.readUInt32LE(60))),
    at: (sector) => mini.subarray(sector * miniBytes, (sector + 1) * miniBytes),
  };
  const sectorsOf = ({ size }: Entry): Sectors => (size < miniMax ? small : large);
  const read = (name: string): Buffer | undefined => {
    const entry = paths.get(name);
    return entry && follow(sectorsOf(entry), entry.start).subarray(0, entry.size);
  };
  const extentOf = (names: readonly string[]): OleExtent => {
    // No sector is in two streams, unless they are forged.
    const room = { left: large.table.length + small.table.length };
    const asked = names.flatMap((name) => paths.get(name) ?? []);
    return {
      found: asked.reduce((sum, entry) => sum + lengthOf(sectorsOf(entry), entry, room), 0),
      stated: asked.reduce((sum, { size }) => sum + size, 0),
    };
  };
  return { names: [...paths.keys()], read, extentOf, isCutOff };
}

function numbersOf(buffer: Buffer): Uint32Array {
  return Uint32Array.from({ length: buffer.length >> 2 }, (_, at) => buffer.readUInt32LE(4 * at));
}

/** The sectors of the table are listed in the header, and in a chain of their own. */
function allocationOf(file: Buffer, sectorBytes: number): Uint32Array {
  const sectors = Array.from({ length: headerSlots }, (_, at) => file.readUInt32LE(76 + 4 * at));
  const slots = sectorBytes / 4 - 1;
  let next = file.readUInt32LE(68);
  for (let left = file.length / sectorBytes; next < noSector && left > 0; left -= 1) {
    const more = numbersOf(sectorOf(file, next, sectorBytes));
    sectors.push(...more.subarray(0, slots));
    next = more[slots] ?? noSector;
  }
  const known = sectors.filter((sector) => (sector + 1) * sectorBytes < file.length);
  return numbersOf(Buffer.concat(known.map((sector) => sectorOf(file, sector, sectorBytes))));
}

function sectorOf(file: Buffer, sector: number, sectorBytes: number): Buffer {
  const start = (sector + 1) * sectorBytes;
  return file.subarray(start, start + sectorBytes);
}

/** Sectors of one size, and their chain table. */
interface Sectors {
  readonly table: Uint32Array;
  readonly at: (sector: number) => Buffer;
}

function follow({ table, at }: Sectors, start: number): Buffer {
  const parts: Buffer[] = [];
  for (let sector = start; sector < table.length; sector = table[sector] ?? noSector) {
    if (parts.length > table.length) throw damaged('a stream of the container has no end');
    parts.push(at(sector));
  }
  return Buffer.concat(parts);
}

function lengthOf({ table, at }: Sectors, { start, size }: Entry, room: { left: number }): number {
  let length = 0;
  for (let sector = start; sector < table.length; sector = table[sector] ?? noSector) {
    if (length >= size || room.left <= 0) break;
    room.left -= 1;
    length += at(sector).length;
  }
  return Math.min(length, size);
}

function entriesOf(directory: Buffer): Entry[] {
  const count = Math.min(Math.floor(directory.length / entryBytes), entriesMax);
  return Array.from({ length: count }, (_, at) => {
    const entry = directory.subarray(at * entryBytes, (at + 1) * entryBytes);
    const nameBytes = Math.min(Math.max(entry.readUInt16LE(64) - 2, 0), 62);
    return {
      name: entry.toString('utf16le', 0, nameBytes),
      kind: entry[66] ?? 0,
      left: entry.readUInt32LE(68),
      right: entry.readUInt32LE(72),
      child: entry.readUInt32LE(76),
      start: entry.readUInt32LE(116),
      size: entry.readUInt32LE(120),
    };
  });
}

/** Siblings form a binary tree, and a storage points to the root of its own. */
function pathsOf(entries: readonly Entry[]) {
  const paths = new Map<string, Entry>();
  let isCutOff = entries.length === 0;
  const seen = new Set<number>([0]);
  const open: { at: number; folder: string }[] = [{ at: entries[0]?.child ?? noEntry, folder: '' }];
  for (let next = open.pop(); next; next = open.pop()) {
    const entry = entries[next.at];
    if (!entry && next.at !== noEntry) isCutOff = true;
    if (!entry || seen.has(next.at)) continue;
    seen.add(next.at);
    const path = next.folder + entry.name;
    if (entry.kind === kinds.stream) paths.set(path, entry);
    if (entry.kind === kinds.storage) open.push({ at: entry.child, folder: `${path}/` });
    open.push({ at: entry.left, folder: next.folder }, { at: entry.right, folder: next.folder });
  }
  return { paths, isCutOff };
}
