/**
 * Texts and bytes as they are stored: compressed with Zstandard, unless that saves too little. A
 * row has a plain column and a packed one, and exactly one of them is used.
 */
import { promisify } from 'node:util';
import { zstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { limits } from '../../kernel/limits/limits.ts';

/** Undefined: it would take almost as much room. */
export function pack(bytes: Uint8Array): Uint8Array | undefined {
  return isPackable(bytes) ? ifSmaller(zstdCompressSync(bytes), bytes) : undefined;
}

const compress = promisify(zstdCompress);

/** Like `pack`; many bytes are compressed off the event loop. */
export async function packLarge(bytes: Uint8Array): Promise<Uint8Array | undefined> {
  if (bytes.length <= limits.packing.sampleBytes) return pack(bytes);
  return isPackable(bytes) ? ifSmaller(await compress(bytes), bytes) : undefined;
}

export function unpack(packed: Uint8Array): Uint8Array {
  return zstdDecompressSync(packed);
}

export interface PackedText {
  /** Empty if the text is packed. */
  readonly body: string;
  readonly packed: Uint8Array | null;
}

export function packText(body: string): PackedText {
  const packed = pack(Buffer.from(body));
  return packed ? { body: '', packed } : { body, packed: null };
}

export function unpackText({ body, packed }: PackedText): string {
  return packed ? Buffer.from(unpack(packed)).toString() : body;
}

/** Most archives, pictures and PDFs are compressed: their beginning shows it. */
function isPackable(bytes: Uint8Array): boolean {
  const { bytesMin, sampleBytes } = limits.packing;
  if (bytes.length < bytesMin) return false;
  if (bytes.length <= sampleBytes) return true;
  const sample = bytes.subarray(0, sampleBytes);
  return ifSmaller(zstdCompressSync(sample), sample) !== undefined;
}

function ifSmaller(packed: Uint8Array, bytes: Uint8Array): Uint8Array | undefined {
  return packed.length < limits.packing.packedFactor * bytes.length ? packed : undefined;
}
