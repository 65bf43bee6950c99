/**
 * Rotates a picture by 180 degrees: pixels from last to first. Only for the renderer's format: PNG
 * with eight bits per channel, four channels, not interlaced.
 */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from('89504e470d0a1a0a', 'hex');
const bytesPerPixel = 4;
const headerEnd = 33;

/** Undefined for other formats. */
export function turnUpsideDown(png: Buffer): Buffer | undefined {
  const isKnown =
    png.subarray(0, 8).equals(signature) && png.toString('hex', 24, 29) === '0806000000';
  if (!isKnown) return undefined;
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const stride = width * bytesPerPixel;
  const lengthMax = height * (stride + 1);
  const packed = Buffer.concat(chunksOf(png, 'IDAT'));
  const rows = inflateSync(packed, { maxOutputLength: lengthMax });
  if (rows.length !== lengthMax) return undefined;
  unfilter(rows, { height, stride });
  const turned = Buffer.alloc(lengthMax);
  for (let row = 0; row < height; row += 1) {
    const from = row * (stride + 1) + 1;
    const to = (height - 1 - row) * (stride + 1) + 1;
    for (let at = 0; at < stride; at += bytesPerPixel) {
      turned.writeUInt32BE(rows.readUInt32BE(from + at), to + stride - bytesPerPixel - at);
    }
  }
  return Buffer.concat([
    png.subarray(0, headerEnd),
    chunk('IDAT', deflateSync(turned, { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunksOf(png: Buffer, type: string): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 8; at + 12 <= png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === type) {
      found.push(png.subarray(at + 8, at + 8 + length));
    }
    at += 12 + length;
  }
  return found;
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** Each row is stored as its difference from the pixel to the left, above, or both. */
function unfilter(rows: Buffer, { height, stride }: { height: number; stride: number }): void {
  for (let row = 0; row < height; row += 1) {
    const start = row * (stride + 1) + 1;
    const filter = rows[start - 1] ?? 0;
    for (let at = 0; at < stride && filter !== 0; at += 1) {
      const place = start + at;
      const left = at < bytesPerPixel ? 0 : (rows[place - bytesPerPixel] ?? 0);
      const up = row === 0 ? 0 : (rows[place - stride - 1] ?? 0);
      const corner =
        at < bytesPerPixel || row === 0 ? 0 : (rows[place - stride - 1 - bytesPerPixel] ?? 0);
      rows[place] = (rows[place] ?? 0) + predicted(filter, { left, up, corner });
    }
    rows[start - 1] = 0;
  }
}

interface Around {
  readonly left: number;
  readonly up: number;
  readonly corner: number;
}

function predicted(filter: number, { left, up, corner }: Around): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const nearLeft = Math.abs(up - corner);
  const nearUp = Math.abs(left - corner);
  const nearCorner = Math.abs(left + up - 2 * corner);
  if (nearLeft <= nearUp && nearLeft <= nearCorner) return left;
  return nearUp <= nearCorner ? up : corner;
}
