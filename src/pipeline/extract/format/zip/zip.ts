/**
 * Reads a ZIP file only through its directory, and only after all of it was checked: entries that
 * overlap, leave their folder or are too many are refused before a byte is inflated. Reading is
 * bounded by the size of the entry, by the total, and by what the directory states.
 */
import { crc32, inflateRawSync } from 'node:zlib';
import { Failure } from '../../../../kernel/failure/failure.ts';
import { limits } from '../../../../kernel/limits/limits.ts';
import { beyond, damaged } from '../refuse.ts';

export interface Zip {
  readonly names: readonly string[];
  readonly read: (name: string) => Uint8Array | undefined;
}

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly bytes: number;
  readonly start: number;
}

const signature = { local: 0x04034b50, central: 0x02014b50, end: 0x06054b50 };
const endBytes = 22;
const commentBytesMax = 65_535;
const stored = 0;
const deflated = 8;
const encryptedFlag = 1;
const symbolicLink = 0o120000;
const ratioCountsFromBytes = 1024 * 1024;

export function openZip(bytes: Uint8Array): Zip {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { count, directory, end } = readEnd(buffer);
  const entries = new Map<string, Entry>();
  let place = directory;
  for (let index = 0; index < count; index += 1) {
    const { entry, next } = readEntry(buffer, place, end);
    if (entries.has(entry.name)) throw damaged(`the archive has two entries ${entry.name}`);
    entries.set(entry.name, entry);
    place = next;
  }
  checkPlaces([...entries.values()], directory);
  // Office files use any case for part names; an exact match comes first.
  const byLower = new Map([...entries.values()].map((entry) => [entry.name.toLowerCase(), entry]));
  const seen = new Set<Entry>();
  let total = 0;
  return {
    names: [...entries.keys()],
    read: (name) => {
      const entry = entries.get(name) ?? byLower.get(name.toLowerCase());
      if (!entry) return undefined;
      if (!seen.has(entry)) total += entry.bytes;
      seen.add(entry);
      checkSize(entry, total);
      return inflate(buffer, entry);
    },
  };
}

/** The directory must end where its end record begins: then the file has one interpretation. */
function readEnd(buffer: Buffer): { count: number; directory: number; end: number } {
  const lowest = Math.max(0, buffer.length - endBytes - commentBytesMax);
  for (let place = buffer.length - endBytes; place >= lowest; place -= 1) {
    if (buffer.readUInt32LE(place) !== signature.end) continue;
    const count = buffer.readUInt16LE(place + 10);
    const size = buffer.readUInt32LE(place + 12);
    const directory = buffer.readUInt32LE(place + 16);
    if (count > limits.parse.zipEntriesMax) {
      throw beyond('entries', `the archive has more than ${limits.parse.zipEntriesMax} entries`);
    }
    if (directory + size !== place) break;
    return { count, directory, end: place };
  }
  throw damaged('the archive has no directory: it was cut off, or is damaged');
}

function readEntry(
  buffer: Buffer,
  place: number,
  end: number,
): { readonly entry: Entry; readonly next: number } {
  if (place + 46 > end || buffer.readUInt32LE(place) !== signature.central) {
    throw damaged('the directory of the archive is damaged');
  }
  const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) =>
    buffer.readUInt16LE(place + offset),
  ) as [number, number, number];
  const next = place + 46 + nameBytes + extraBytes + commentBytes;
  if (next > end) throw damaged('the directory of the archive is damaged');
  const name = checkedName(nameAt(buffer, place + 46, nameBytes));
  const mode = buffer.readUInt32LE(place + 38) >>> 16;
  if ((mode & 0o170000) === symbolicLink) throw damaged(`${name} in the archive is a link`);
  if ((buffer.readUInt16LE(place + 8) & encryptedFlag) !== 0) {
    throw new Failure('encrypted_document', `${name} in the archive is encrypted`);
  }
  const entry = {
    name,
    method: buffer.readUInt16LE(place + 10),
    crc: buffer.readUInt32LE(place + 16),
    packedBytes: buffer.readUInt32LE(place + 20),
    bytes: buffer.readUInt32LE(place + 24),
    start: startOf(buffer, place, nameBytes),
  };
  return { entry, next };
}

/** Some programs write the Windows separator, which the format does not allow. */
function nameAt(buffer: Buffer, place: number, bytes: number): string {
  return buffer.toString('utf8', place, place + bytes).replaceAll('\\', '/');
}

/** Nothing is written under these names, but a forged name is a sign of an attack. */
function checkedName(name: string): string {
  const parts = name.split('/');
  const isForged =
    name === '' ||
    name.length > limits.parse.zipNameCharactersMax ||
    /\0|^\/|^[a-z]:/i.test(name) ||
    parts.includes('..');
  if (isForged) throw damaged(`the archive has an entry with the forged name ${name.slice(0, 60)}`);
  return name;
}

/** The start of the content. The entry's own header must have the same name as the directory. */
function startOf(buffer: Buffer, place: number, nameBytes: number): number {
  const local = buffer.readUInt32LE(place + 42);
  const isHeader =
    local + 30 + nameBytes <= buffer.length && buffer.readUInt32LE(local) === signature.local;
  const isSame =
    isHeader &&
    buffer.readUInt16LE(local + 26) === nameBytes &&
    buffer.compare(
      buffer,
      place + 46,
      place + 46 + nameBytes,
      local + 30,
      local + 30 + nameBytes,
    ) === 0;
  if (!isSame) throw damaged('the directory of the archive contradicts its entries');
  return local + 30 + nameBytes + buffer.readUInt16LE(local + 28);
}

function checkPlaces(entries: readonly Entry[], directory: number): void {
  let free = 0;
  for (const entry of entries.toSorted((one, other) => one.start - other.start)) {
    if (entry.start < free) throw beyond('overlap', `entries of the archive overlap: a bomb`);
    free = entry.start + entry.packedBytes;
    if (free > directory) throw damaged(`${entry.name} in the archive was cut off`);
  }
}

/** Only for entries that are read: an unused picture may have any compression ratio. */
function checkSize({ name, bytes, packedBytes }: Entry, total: number): void {
  const isInflated = bytes > limits.parse.zipRatioMax * packedBytes;
  if (bytes > limits.parse.zipEntryBytesMax || (bytes > ratioCountsFromBytes && isInflated)) {
    throw beyond('inflated', `${name} in the archive would come to ${bytes} bytes`);
  }
  if (total > limits.parse.zipBytesMax) {
    throw beyond('inflated', `the archive would come to ${total} bytes`);
  }
}

function inflate(buffer: Buffer, entry: Entry): Uint8Array {
  const { name, method, start, packedBytes, bytes, crc } = entry;
  const packed = buffer.subarray(start, start + packedBytes);
  if (method !== stored && method !== deflated) {
    throw damaged(`${name} in the archive is packed in a way that Pawl cannot unpack`);
  }
  const content = method === stored ? packed : inflateBounded(packed, entry);
  if (content.length !== bytes || crc32(content) !== crc) {
    throw damaged(`${name} in the archive is damaged`);
  }
  return content;
}

function inflateBounded(packed: Buffer, { name, bytes }: Entry): Uint8Array {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(bytes, 1) });
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') {
      throw beyond('inflated', `${name} in the archive comes to more than the ${bytes} it says`);
    }
    throw damaged(`${name} in the archive is damaged`, error);
  }
}
