/**
 * The frames on the pipes between Pawl and its parsers: two lengths, a header as JSON, a body as
 * bytes. JSON and bytes only: a compromised parser can send nonsense, but nothing that executes.
 */
import { readSync, writeSync } from 'node:fs';
import { Failure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';

export interface Frame {
  readonly header: unknown;
  readonly body: Buffer;
}

const prefixBytes = 8;

/** The parts of a frame, to be written in order: the pieces of the body are not copied. */
export function framePartsOf(
  header: object,
  ...pieces: readonly Uint8Array[]
): readonly Uint8Array[] {
  const text = Buffer.from(JSON.stringify(header));
  const head = Buffer.allocUnsafe(prefixBytes + text.length);
  head.writeUInt32LE(text.length, 0);
  head.writeUInt32LE(
    pieces.reduce((sum, { length }) => sum + length, 0),
    4,
  );
  head.set(text, prefixBytes);
  return [head, ...pieces];
}

/** Assembles frames from the chunks of a pipe. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #length = 0;
  #wanted = prefixBytes;

  /** The frame that this chunk completes, if any. Throws if a length exceeds the limit. */
  push(chunk: Buffer): Frame | undefined {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#wanted) return undefined;
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    const { headerBytes, bodyBytes } = lengthsOf(bytes);
    const headerEnd = prefixBytes + headerBytes;
    this.#wanted = headerEnd + bodyBytes;
    this.#chunks = [bytes];
    if (this.#length < this.#wanted) return undefined;
    // Each frame responds to one of ours, so no bytes may follow it before our next one.
    if (this.#length > this.#wanted)
      throw new Failure('parse_crashed', 'the parser sent more than one response');
    this.#chunks = [];
    this.#length = 0;
    this.#wanted = prefixBytes;
    return {
      header: JSON.parse(bytes.toString('utf8', prefixBytes, headerEnd)),
      body: bytes.subarray(headerEnd),
    };
  }
}

function lengthsOf(bytes: Buffer): { headerBytes: number; bodyBytes: number } {
  const headerBytes = bytes.readUInt32LE(0);
  const bodyBytes = bytes.readUInt32LE(4);
  const { headerBytesMax, textBytesMax } = limits.parser;
  const bodyBytesMax = textBytesMax + limits.attachment.bytesMax;
  if (headerBytes <= headerBytesMax && bodyBytes <= bodyBytesMax) return { headerBytes, bodyBytes };
  const message = `a frame of ${headerBytes} and ${bodyBytes} bytes is beyond what is asked for`;
  throw new Failure('parse_crashed', message);
}

/** Waits for the next frame; undefined when the other side has closed the pipe. */
export function readFrame(descriptor: number): Frame | undefined {
  const prefix = readExactly(descriptor, prefixBytes);
  if (!prefix) return undefined;
  const header = readExactly(descriptor, prefix.readUInt32LE(0));
  const body = header && readExactly(descriptor, prefix.readUInt32LE(4));
  return body && { header: JSON.parse(header.toString()), body };
}

function readExactly(descriptor: number, length: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafeSlow(length);
  for (let read = 0; read < length; ) {
    const count = readSync(descriptor, bytes, read, length - read, null);
    if (count === 0) return undefined;
    read += count;
  }
  return bytes;
}

export function writeFrame(
  descriptor: number,
  header: object,
  ...pieces: readonly Uint8Array[]
): void {
  for (const part of framePartsOf(header, ...pieces)) {
    for (let written = 0; written < part.length; ) {
      written += writeSync(descriptor, part, written, part.length - written);
    }
  }
}
