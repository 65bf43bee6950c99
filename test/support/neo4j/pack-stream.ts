/** PackStream, the encoding of Bolt: values, and messages as numbered structures. */
export type Packed = null | boolean | number | string | Packed[] | { [key: string]: Packed };

export interface Message {
  readonly tag: number;
  readonly fields: Packed[];
}

export function pack(value: Packed): Buffer {
  if (value === null) return Buffer.from([0xc0]);
  if (typeof value === 'boolean') return Buffer.from([value ? 0xc3 : 0xc2]);
  if (typeof value === 'number') return packNumber(value);
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    return Buffer.concat([head(bytes.length, 0x80, 0xd0), bytes]);
  }
  if (Array.isArray(value))
    return Buffer.concat([head(value.length, 0x90, 0xd4), ...value.map(pack)]);
  const entries = Object.entries(value);
  return Buffer.concat([
    head(entries.length, 0xa0, 0xd8),
    ...entries.flatMap(([key, each]) => [pack(key), pack(each)]),
  ]);
}

export function packMessage({ tag, fields }: Message): Buffer {
  return Buffer.concat([Buffer.from([0xb0 + fields.length, tag]), ...fields.map(pack)]);
}

function packNumber(value: number): Buffer {
  const buffer = Buffer.alloc(9);
  if (Number.isInteger(value)) {
    buffer[0] = 0xcb;
    buffer.writeBigInt64BE(BigInt(value), 1);
  } else {
    buffer[0] = 0xc1;
    buffer.writeDoubleBE(value, 1);
  }
  return buffer;
}

/** A length: small ones in the marker itself, others after one of three markers. */
function head(length: number, tiny: number, mark: number): Buffer {
  if (length < 16) return Buffer.from([tiny + length]);
  const buffer = Buffer.alloc(5);
  buffer[0] = mark + 2;
  buffer.writeUInt32BE(length, 1);
  return buffer;
}

export function unpackMessage(bytes: Buffer): Message {
  const reader = new Reader(bytes);
  const [count, tag] = [reader.byte() - 0xb0, reader.byte()];
  return { tag, fields: Array.from({ length: count }, () => reader.value()) };
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#at++);
  }

  value(): Packed {
    const mark = this.byte();
    if (mark < 0x80) return mark;
    if (mark >= 0xf0) return mark - 0x100;
    if (mark < 0x90) return this.#text(mark - 0x80);
    if (mark < 0xa0) return this.#list(mark - 0x90);
    if (mark < 0xb0) return this.#map(mark - 0xa0);
    const read = this.#marked[mark];
    if (!read) throw new Error(`the mark 0x${mark.toString(16)} is not known here`);
    return read();
  }

  readonly #marked: Readonly<Record<number, () => Packed>> = {
    192: () => null,
    193: () => this.#take(8).readDoubleBE(),
    194: () => false,
    195: () => true,
    200: () => this.#take(1).readInt8(),
    201: () => this.#take(2).readInt16BE(),
    202: () => this.#take(4).readInt32BE(),
    203: () => Number(this.#take(8).readBigInt64BE()),
    208: () => this.#text(this.#length(1)),
    209: () => this.#text(this.#length(2)),
    210: () => this.#text(this.#length(4)),
    212: () => this.#list(this.#length(1)),
    213: () => this.#list(this.#length(2)),
    214: () => this.#list(this.#length(4)),
    216: () => this.#map(this.#length(1)),
    217: () => this.#map(this.#length(2)),
    218: () => this.#map(this.#length(4)),
  };

  #take(count: number): Buffer {
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  #length(bytes: number): number {
    return this.#take(bytes).readUIntBE(0, bytes);
  }

  #text(bytes: number): string {
    return this.#take(bytes).toString();
  }

  #list(count: number): Packed[] {
    return Array.from({ length: count }, () => this.value());
  }

  #map(count: number): Packed {
    const entries = Array.from({ length: count }, () => [this.value(), this.value()]);
    return Object.fromEntries(entries);
  }
}
