/**
 * Tar archives (POSIX ustar) of plain files, as streams. `tar tf` lists them. Only what Pawl writes
 * is read: no links, no folders, no extensions.
 */
import type { FileHandle } from 'node:fs/promises';
import { Failure } from '../../../kernel/failure/failure.ts';

const block = 512;
const pieceBytes = 1 << 20;
/** Eleven octal digits. Larger sizes are written in binary, as GNU and BSD tar do. */
const octalMax = 8 ** 11 - 1;

export interface TarEntry {
  readonly name: string;
  readonly bytes: number;
}

export class TarWriter {
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** The pieces must have the given size together. */
  async add({ name, bytes }: TarEntry, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    await this.#file.writeFile(headerOf(name, bytes));
    let written = 0;
    for await (const piece of pieces) {
      written += piece.length;
      await this.#file.writeFile(piece);
    }
    if (written !== bytes) {
      throw new Failure('storage_failed', `${name} changed while it was copied`);
    }
    await this.#file.writeFile(new Uint8Array(paddingOf(bytes)));
  }

  /** Two empty blocks end an archive. */
  async end(): Promise<void> {
    await this.#file.writeFile(new Uint8Array(2 * block));
    await this.#file.sync();
  }
}

/** Yields each entry with its bytes, which must be read before the next entry. */
export async function* readTar(
  file: FileHandle,
): AsyncGenerator<TarEntry & { readonly pieces: AsyncIterable<Uint8Array> }> {
  for (let at = 0; ; ) {
    const header = await readExactly(file, at, block);
    if (header.every((byte) => byte === 0)) return;
    const entry = entryOf(header);
    const from = at + block;
    yield { ...entry, pieces: piecesOf(file, from, entry.bytes) };
    at = from + entry.bytes + paddingOf(entry.bytes);
  }
}

async function* piecesOf(
  file: FileHandle,
  from: number,
  bytes: number,
): AsyncGenerator<Uint8Array> {
  for (let done = 0; done < bytes; ) {
    const piece = await readExactly(file, from + done, Math.min(pieceBytes, bytes - done));
    done += piece.length;
    yield piece;
  }
}

async function readExactly(file: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  for (let done = 0; done < bytes; ) {
    const { bytesRead } = await file.read(buffer, done, bytes - done, at + done);
    if (bytesRead === 0) throw damaged('it ends too early');
    done += bytesRead;
  }
  return buffer;
}

function headerOf(name: string, bytes: number): Buffer {
  const header = Buffer.alloc(block);
  header.write(name, 0, 100, 'utf8');
  header.write('0000600\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  if (bytes <= octalMax) header.write(octal(bytes, 11), 124);
  else {
    header[124] = 0x80;
    header.writeBigUInt64BE(BigInt(bytes), 128);
  }
  header.write(octal(0, 11), 136);
  header.write('0', 156);
  header.write('ustar\x0000', 257, 'latin1');
  header.write(`${checksumOf(header).toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

function entryOf(header: Buffer): TarEntry {
  const sum = Number.parseInt(textAt(header, 148, 8), 8);
  if (sum !== checksumOf(header)) throw damaged('a header is wrong');
  const isLarge = header[124] === 0x80;
  const size = isLarge ? Number(header.readBigUInt64BE(128)) : octalAt(header, 124);
  return { name: textAt(header, 0, 100), bytes: size };
}

function octalAt(header: Buffer, at: number): number {
  const value = Number.parseInt(textAt(header, at, 12), 8);
  if (Number.isSafeInteger(value)) return value;
  throw damaged('a size is wrong');
}

function textAt(header: Buffer, at: number, bytes: number): string {
  return header.toString('utf8', at, at + bytes).replace(/\0.*$/s, '');
}

/** The sum of all bytes, with the checksum itself taken as spaces. */
function checksumOf(header: Buffer): number {
  return header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

function octal(value: number, digits: number): string {
  return `${value.toString(8).padStart(digits, '0')}\0`;
}

function paddingOf(bytes: number): number {
  return (block - (bytes % block)) % block;
}

export function damaged(why: string): Failure {
  return new Failure('bad_request', `the backup is damaged: ${why}`, {
    context: { advice: 'Use another backup: this file was cut off or changed after it was made.' },
  });
}
