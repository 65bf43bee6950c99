/** Outlook's compressed RTF: runs are copied from a ring buffer of the last 4,096 bytes. */
import { limits } from '../../../../kernel/limits/limits.ts';
import { damaged } from '../refuse.ts';

const packedMark = 0x75465a4c;
const plainMark = 0x414c454d;
const headerBytes = 16;
const ringBytes = 4096;

/** The ring buffer starts with a common beginning of documents. */
const preset = Buffer.from(
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern ' +
    '\\fscript \\fdecor MS Sans SerifSymbolArial' +
    'Times New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n' +
    '\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx',
  'latin1',
);

export function unpackRtf(bytes: Buffer): Buffer {
  if (bytes.length < headerBytes) throw damaged('the packed text was cut off');
  const mark = bytes.readUInt32LE(8);
  if (mark === plainMark) return bytes.subarray(headerBytes);
  if (mark !== packedMark) throw damaged('the packed text is in an unknown form');
  const size = Math.min(bytes.readUInt32LE(4), limits.parse.textCharactersMax * 4);
  const out = Buffer.alloc(size);
  const ring = Buffer.alloc(ringBytes);
  preset.copy(ring);
  let place = preset.length;
  let length = 0;
  const put = (byte: number): void => {
    if (length < size) out[length++] = byte;
    ring[place] = byte;
    place = (place + 1) % ringBytes;
  };
  for (let at = headerBytes; at < bytes.length && length < size; ) {
    const control = bytes[at++] ?? 0;
    for (let bit = 0; bit < 8 && at < bytes.length; bit += 1) {
      if ((control & (1 << bit)) === 0) {
        put(bytes[at++] ?? 0);
        continue;
      }
      if (at + 2 > bytes.length) return out.subarray(0, length);
      const reference = bytes.readUInt16BE(at);
      at += 2;
      const from = reference >> 4;
      if (from === place) return out.subarray(0, length);
      for (let step = 0; step < (reference & 15) + 2; step += 1) {
        put(ring[(from + step) % ringBytes] ?? 0);
      }
    }
  }
  return out.subarray(0, length);
}
