/**
 * Reads a body within limits. Bytes are counted twice, on the wire and decompressed, since a
 * hundred kilobytes on the wire may hold gigabytes. A bomb is stopped within one step of the
 * decompressor, so no more than the limit and about 64 KiB are ever in memory.
 */
import { type Duplex, PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as zlib from 'node:zlib';
import { Failure } from '../../../kernel/failure/failure.ts';

export interface BodyBounds {
  readonly wireBytesMax: number;
  readonly bytesMax: number;
  /** A body above the limit fails the fetch, or is truncated. */
  readonly beyond: 'fail' | 'cut';
}

export interface Body {
  readonly bytes: Uint8Array;
  readonly wireBytes: number;
  readonly isCut: boolean;
}

const chunkSize = 64 * 1024;

/** A window of 8 MiB is what browsers accept, and the limit of RFC 8878 for servers. */
const zstdParameters = { [zlib.constants.ZSTD_d_windowLogMax]: 23 };

type Decoder = (firstByte: number) => Duplex;

const decoders: Readonly<Record<string, Decoder>> = {
  identity: () => new PassThrough(),
  gzip: () => zlib.createGunzip({ chunkSize }),
  'x-gzip': () => zlib.createGunzip({ chunkSize }),
  // `deflate` means the zlib format, whose first byte has the method 8 in its low half, but some
  // servers send the raw stream.
  deflate: (firstByte) =>
    (firstByte & 0x0f) === 8
      ? zlib.createInflate({ chunkSize })
      : zlib.createInflateRaw({ chunkSize }),
  br: () => zlib.createBrotliDecompress({ chunkSize }),
  // Node 22 has it from 22.15 on.
  ...('createZstdDecompress' in zlib && {
    zstd: () => zlib.createZstdDecompress({ chunkSize, params: zstdParameters }),
  }),
};

/** The value of `Accept-Encoding`. */
export const acceptEncoding = ['gzip', 'deflate', 'br', 'zstd']
  .filter((name) => Object.hasOwn(decoders, name))
  .join(', ');

/** One encoding, known by name: only an attacker would chain them. */
export function decoderFor(header: string): Decoder {
  const names = header
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const [name = 'identity', ...others] = names.filter((each) => each !== '' && each !== 'identity');
  const decoder = others.length === 0 && Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  if (decoder) return decoder;
  const shown = JSON.stringify(header.slice(0, 80));
  throw new Failure('bad_response', `the content encoding ${shown} is not one that was asked for`);
}

export async function readBody(
  source: AsyncIterable<Buffer>,
  decoder: Decoder,
  { bounds, signal }: { readonly bounds: BodyBounds; readonly signal: AbortSignal },
): Promise<Body> {
  const reading = new Reading(bounds);
  const wire = reading.countWire(source);
  const first = await wire.next();
  if (first.done) return reading.body();
  const whole = async function* (): AsyncGenerator<Buffer> {
    yield first.value;
    yield* wire;
  };
  const collect = (decoded: AsyncIterable<Buffer>): Promise<void> => reading.collect(decoded);
  try {
    await pipeline(whole, decoder(first.value[0] ?? 0), collect, { signal });
  } catch (error) {
    if (!reading.isCut) throw isDamage(error) ? damaged(error) : error;
  }
  return reading.body();
}

class Reading {
  readonly #bounds: BodyBounds;
  readonly #chunks: Buffer[] = [];
  #wireBytes = 0;
  #bytes = 0;
  isCut = false;

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds;
  }

  async *countWire(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
    const { wireBytesMax } = this.#bounds;
    for await (const chunk of source) {
      this.#wireBytes += chunk.length;
      if (this.#wireBytes > wireBytesMax) throw this.#beyond(`${wireBytesMax} bytes on the wire`);
      yield chunk;
    }
    return undefined;
  }

  async collect(decoded: AsyncIterable<Buffer>): Promise<void> {
    const { bytesMax } = this.#bounds;
    for await (const chunk of decoded) {
      this.#chunks.push(chunk.subarray(0, bytesMax - this.#bytes));
      this.#bytes += chunk.length;
      if (this.#bytes > bytesMax) throw this.#beyond(`${bytesMax} bytes when unpacked`);
    }
  }

  body(): Body {
    return { bytes: Buffer.concat(this.#chunks), wireBytes: this.#wireBytes, isCut: this.isCut };
  }

  /** Ends the read; a truncated body keeps what was read. */
  #beyond(what: string): Failure {
    this.isCut = this.#bounds.beyond === 'cut';
    return new Failure('source_too_large', `the document has more than ${what}`);
  }
}

/** Errors of zlib and the like for bytes that do not match the header. */
function isDamage(error: unknown): error is Error {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^(?:Z_|ZSTD_|ERR_BROTLI|ERR__ERROR|ERR_ZSTD)/.test(code);
}

function damaged(cause: Error): Failure {
  return new Failure('bad_response', `the compressed body is damaged (${cause.message})`, {
    cause,
  });
}
