/**
 * Writes a ZIP, compressed or not. Checked parts are passed to libraries in a new archive, so that
 * they see what we saw and nothing else.
 */
import { crc32, deflateRawSync } from 'node:zlib';

export type ZipPart = readonly [name: string, content: Uint8Array | string];

export function writeZip(parts: readonly ZipPart[], packing: 'stored' | 'deflated'): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let place = 0;
  for (const [name, content] of parts) {
    const bytes = Buffer.from(content);
    const packed = packing === 'stored' ? bytes : deflateRawSync(bytes);
    const fields = fieldsOf(Buffer.byteLength(name), bytes, packed);
    const local = Buffer.concat([headOf(0x04034b50, 2), fields, Buffer.from(name), packed]);
    const where = Buffer.alloc(14);
    where.writeUInt32LE(place, 10);
    directory.push(headOf(0x02014b50, 4), fields, where, Buffer.from(name));
    bodies.push(local);
    place += local.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(index.length, 12);
  end.writeUInt32LE(place, 16);
  return Buffer.concat([...bodies, index, end]);
}

/** The signature and the version, which the directory repeats. */
function headOf(signature: number, bytes: 2 | 4): Buffer {
  const head = Buffer.alloc(4 + bytes);
  head.writeUInt32LE(signature, 0);
  for (let place = 4; place < head.length; place += 2) head.writeUInt16LE(20, place);
  return head;
}

const utf8Names = 0x0800;
const firstOf1980 = 0x0021;

function fieldsOf(nameBytes: number, bytes: Buffer, packed: Buffer): Buffer {
  const fields = Buffer.alloc(24);
  fields.writeUInt16LE(utf8Names, 0);
  fields.writeUInt16LE(packed === bytes ? 0 : 8, 2);
  fields.writeUInt16LE(firstOf1980, 6);
  fields.writeUInt32LE(crc32(bytes), 8);
  fields.writeUInt32LE(packed.length, 12);
  fields.writeUInt32LE(bytes.length, 16);
  fields.writeUInt16LE(nameBytes, 20);
  return fields;
}
