/**
 * Writes a compound file with one stream. A stream that was found and checked is passed to a
 * library in a new container, so that it sees what we saw, under the expected name.
 */

const sectorBytes = 4096;
const entryBytes = 128;
const headerSlots = 109;
const [free, endOfChain, tableSector, noEntry] = [
  0xffffffff, 0xfffffffe, 0xfffffffd, 0xffffffff,
] as const;
/** Shorter streams would need a separate table; trailing zeros are harmless. */
const streamBytesMin = sectorBytes;

/** Undefined if the stream exceeds the tables of the header. */
export function writeOle(name: string, stream: Buffer): Buffer | undefined {
  const size = Math.max(stream.length, streamBytesMin);
  const streamSectors = Math.ceil(size / sectorBytes);
  const slots = sectorBytes / 4;
  // The directory takes one sector, and the tables also list their own sectors.
  const tables = Math.ceil((streamSectors + 1) / (slots - 1));
  if (tables > headerSlots) return undefined;
  const file = Buffer.alloc((1 + tables + 1 + streamSectors) * sectorBytes);
  writeHeader(file, tables);
  const table = file.subarray(sectorBytes, (1 + tables) * sectorBytes).fill(0xff);
  const first = tables + 1;
  for (let sector = 0; sector < tables; sector += 1) table.writeUInt32LE(tableSector, 4 * sector);
  table.writeUInt32LE(endOfChain, 4 * tables);
  for (let at = first; at < first + streamSectors; at += 1) {
    table.writeUInt32LE(at + 1 < first + streamSectors ? at + 1 : endOfChain, 4 * at);
  }
  const directory = file.subarray((1 + tables) * sectorBytes);
  writeEntry(directory, { name: 'Root Entry', kind: 5, child: 1, start: endOfChain, size: 0 });
  const entry = { name, kind: 2, child: noEntry, start: first, size };
  writeEntry(directory.subarray(entryBytes), entry);
  stream.copy(file, (1 + first) * sectorBytes);
  return file;
}

function writeHeader(file: Buffer, tables: number): void {
  file.write('d0cf11e0a1b11ae1', 'hex');
  // Versions, byte order, and sector sizes as powers of two.
  [0x3e, 4, 0xfffe, 12, 6].forEach((value, at) => void file.writeUInt16LE(value, 24 + 2 * at));
  file.writeUInt32LE(1, 40);
  file.writeUInt32LE(tables, 44);
  file.writeUInt32LE(tables, 48);
  file.writeUInt32LE(4096, 56);
  file.writeUInt32LE(endOfChain, 60);
  file.writeUInt32LE(endOfChain, 68);
  for (let at = 0; at < headerSlots; at += 1) {
    file.writeUInt32LE(at < tables ? at : free, 76 + 4 * at);
  }
}

interface WrittenEntry {
  readonly name: string;
  readonly kind: number;
  readonly child: number;
  readonly start: number;
  readonly size: number;
}

function writeEntry(place: Buffer, { name, kind, child, start, size }: WrittenEntry): void {
  place.write(name, 0, 'utf16le');
  place.writeUInt16LE(2 * (name.length + 1), 64);
  place.writeUInt8(kind, 66);
  place.writeUInt8(1, 67);
  place.writeUInt32LE(noEntry, 68);
  place.writeUInt32LE(noEntry, 72);
  place.writeUInt32LE(child, 76);
  place.writeUInt32LE(start, 116);
  place.writeUInt32LE(size, 120);
}
