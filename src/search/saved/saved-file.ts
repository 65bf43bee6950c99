/**
 * Files of bytes that can be made again. A file is written under another name and renamed when it
 * is complete. Nothing is flushed: after a power failure the checksum tells a file with a missing
 * part from a whole one.
 *
 *   32 bits each   a number that also shows the byte order, the length of the header, its checksum
 *   the header as JSON, then the content
 *   32 bits        the checksum of the content
 */
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { Failure } from '../../kernel/failure/failure.ts';
import { mebibyte } from '../../kernel/limits/unit.ts';

const magic = 0x5041_574c;
const headBytes = 12;
const sumBytes = 4;
/** Read, written and summed at once: less than a millisecond. */
const portionBytes = mebibyte;

/** Where saved bytes are read from, in the order in which they were written. */
export interface Source {
  fill(target: Uint8Array): Promise<void>;
}

export interface NewFile {
  readonly header: object;
  readonly pieces: Iterable<Uint8Array>;
  /** False: the pieces have changed since the first one. The file is then not written. */
  readonly isCurrent: () => boolean;
}

/** Whether the file was written. Another file of this name is replaced. */
export async function writeSaved(path: string, part: string, file: NewFile): Promise<boolean> {
  const handle = await open(part, 'w');
  let isWritten = false;
  try {
    isWritten = await writeAll(handle, file);
  } finally {
    await handle.close();
    if (!isWritten) await rm(part, { force: true });
  }
  if (isWritten) await rename(part, path);
  return isWritten;
}

async function writeAll(handle: FileHandle, file: NewFile): Promise<boolean> {
  const header = Buffer.from(JSON.stringify(file.header));
  await write(handle, bytesOf(Uint32Array.of(magic, header.length, crc32(header))));
  await write(handle, header);
  // A copy: what is summed is what is written, even if the piece changes meanwhile.
  const portion = Buffer.allocUnsafe(portionBytes);
  let sum = 0;
  for (const piece of file.pieces) {
    for (let from = 0; from < piece.length; from += portionBytes) {
      const some = piece.subarray(from, from + portionBytes);
      portion.set(some);
      const written = portion.subarray(0, some.length);
      sum = crc32(written, sum);
      await write(handle, written);
      if (!file.isCurrent()) return false;
    }
  }
  await write(handle, bytesOf(Uint32Array.of(sum)));
  return true;
}

async function write(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten;
}

export class SavedFile implements Source {
  readonly header: unknown;
  readonly #handle: FileHandle;
  readonly #start: number;
  readonly #end: number;
  #at: number;

  private constructor(handle: FileHandle, place: { header: unknown; start: number; end: number }) {
    this.#handle = handle;
    this.header = place.header;
    this.#start = place.start;
    this.#end = place.end;
    this.#at = place.start;
  }

  /** Undefined if there is no file, or if its header is damaged. */
  static async open(path: string): Promise<SavedFile | undefined> {
    const handle = await openExisting(path);
    if (!handle) return undefined;
    const file = await opened(handle);
    if (!file) await handle.close();
    return file && new SavedFile(handle, file);
  }

  /** Compares the checksum of the content. Call it before anything is read. */
  async isWhole(): Promise<boolean> {
    const portion = Buffer.allocUnsafe(portionBytes);
    let sum = 0;
    for (let at = this.#start; at < this.#end; at += portionBytes) {
      const some = portion.subarray(0, Math.min(portionBytes, this.#end - at));
      if (!(await readAt(this.#handle, some, at))) return false;
      sum = crc32(some, sum);
    }
    const stored = new Uint32Array(1);
    return (await readAt(this.#handle, bytesOf(stored), this.#end)) && stored[0] === sum;
  }

  async fill(target: Uint8Array): Promise<void> {
    const isInside = this.#at + target.length <= this.#end;
    if (!(isInside && (await readAt(this.#handle, target, this.#at)))) {
      throw new Failure('internal_error', 'a saved index ends before its last part');
    }
    this.#at += target.length;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

async function openExisting(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function opened(handle: FileHandle) {
  const head = new Uint32Array(headBytes / 4);
  if (!(await readAt(handle, bytesOf(head), 0)) || head[0] !== magic) return undefined;
  const { size } = await handle.stat();
  const start = headBytes + (head[1] as number);
  const end = size - sumBytes;
  if (start > end) return undefined;
  const text = Buffer.alloc(start - headBytes);
  const isRead = await readAt(handle, text, headBytes);
  if (!isRead || crc32(text) !== head[2]) return undefined;
  return { header: JSON.parse(text.toString()) as unknown, start, end };
}

/** False if the file ends before. */
async function readAt(handle: FileHandle, target: Uint8Array, from: number): Promise<boolean> {
  for (let at = 0; at < target.length; ) {
    const length = Math.min(portionBytes * 4, target.length - at);
    const { bytesRead } = await handle.read(target, at, length, from + at);
    if (bytesRead === 0) return false;
    at += bytesRead;
  }
  return true;
}

/** The first elements of an array as bytes of the same memory. */
export function bytesOf(
  array: Int32Array | Uint32Array | Float32Array | Uint8Array,
  count: number = array.length,
): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, count * array.BYTES_PER_ELEMENT);
}

/** Rows as JSON, in pieces that are parsed within a few milliseconds. */
export function* rowPieces(rows: readonly unknown[]): Generator<Uint8Array> {
  yield bytesOf(Uint32Array.of(rows.length));
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    const text = Buffer.from(JSON.stringify(rows.slice(from, from + rowsAtOnce)));
    yield bytesOf(Uint32Array.of(text.length));
    yield text;
  }
}

const rowsAtOnce = 8192;

export async function readRows<Row>(source: Source): Promise<Row[]> {
  const count = await readNumber(source);
  const rows: Row[] = [];
  while (rows.length < count) {
    const text = Buffer.alloc(await readNumber(source));
    await source.fill(text);
    for (const row of JSON.parse(text.toString()) as Row[]) rows.push(row);
  }
  return rows;
}

export async function readNumber(source: Source): Promise<number> {
  const number = new Uint32Array(1);
  await source.fill(bytesOf(number));
  return number[0] as number;
}
