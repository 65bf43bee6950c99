/** The size of a picture by its header, read before anything decodes it. */

export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

type ReadSize = (bytes: Buffer) => PictureSize | undefined;

const readers: Readonly<Record<string, ReadSize>> = {
  'image/png': (bytes) => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }),
  'image/jpeg': jpegSize,
  'image/webp': webpSize,
  'image/tiff': tiffSize,
  'image/bmp': (bytes) => ({
    width: Math.abs(bytes.readInt32LE(18)),
    height: Math.abs(bytes.readInt32LE(22)),
  }),
  'image/gif': (bytes) => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }),
};

/** Undefined if the header does not contain it, or is truncated. */
export function pictureSize(mediaType: string, bytes: Uint8Array): PictureSize | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return readers[mediaType]?.(buffer);
  } catch (error) {
    if (error instanceof RangeError) return undefined; // The header ends too early.
    throw error;
  }
}

const frameMarkers = new Set([0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd]);

function jpegSize(bytes: Buffer): PictureSize | undefined {
  let place = 2;
  while (bytes.readUInt8(place) === 0xff) {
    const marker = bytes.readUInt8(place + 1);
    if (frameMarkers.has(marker)) {
      return { height: bytes.readUInt16BE(place + 5), width: bytes.readUInt16BE(place + 7) };
    }
    place += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(place + 2);
  }
  return undefined;
}

function webpSize(bytes: Buffer): PictureSize | undefined {
  const kind = bytes.toString('latin1', 12, 16);
  if (kind === 'VP8X') {
    return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  }
  if (kind === 'VP8L') {
    const bits = bytes.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
}

const widthTag = 256;
const heightTag = 257;

/** The size of the first picture in the file. */
function tiffSize(bytes: Buffer): PictureSize | undefined {
  const isLittle = bytes.toString('latin1', 0, 2) === 'II';
  const short = (place: number) =>
    isLittle ? bytes.readUInt16LE(place) : bytes.readUInt16BE(place);
  const long = (place: number) =>
    isLittle ? bytes.readUInt32LE(place) : bytes.readUInt32BE(place);
  const directory = long(4);
  const found = new Map<number, number>();
  const count = short(directory);
  for (let index = 0; index < count; index += 1) {
    const place = directory + 2 + 12 * index;
    const isShort = short(place + 2) === 3;
    found.set(short(place), isShort ? short(place + 8) : long(place + 8));
  }
  const [width, height] = [found.get(widthTag), found.get(heightTag)];
  return width === undefined || height === undefined ? undefined : { width, height };
}
