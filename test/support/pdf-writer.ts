/** Writes small PDFs, valid and hostile ones, so that no third-party file is needed. */
import { createHash } from 'node:crypto';

export interface PdfOptions {
  /** Added to the catalog, such as an action. */
  readonly catalog?: string;
  /** The declared number of pages. */
  readonly count?: number;
  /** Encrypts the file with the first version of PDF encryption. */
  readonly passwords?: { readonly user: string; readonly owner: string };
  /** Object `5 + pages` and following. */
  readonly objects?: readonly string[];
  readonly resources?: string;
  /** The filters of the contents, such as `/FlateDecode`; the contents are given encoded. */
  readonly filters?: string;
}

/** One page for each content stream; `null` is a page without any. */
export function writePdf(contents: readonly (string | null)[], options: PdfOptions = {}): Buffer {
  const { catalog = '', count = contents.length, resources = '', filters = '' } = options;
  const first = 4;
  const kids = contents.map((_, index) => `${first + 2 * index} 0 R`).join(' ');
  const id = Buffer.alloc(16, 7);
  const lock = options.passwords && lockOf(options.passwords, id);
  const bodies = [
    `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
    `<< /Type /Pages /Kids [${kids}] /Count ${count} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...contents.flatMap((content, index) => pageOf(content, { index, resources, filters, lock })),
    ...(options.objects ?? []),
  ];
  return fileOf(bodies, lock ? `/Encrypt ${lock.dictionary} /ID [<${hex(id)}> <${hex(id)}>]` : '');
}

/** A page with a line of words. */
export function textPage(words: string): string {
  return `BT /F1 24 Tf 72 700 Td (${words}) Tj ET`;
}

interface Page {
  readonly index: number;
  readonly resources: string;
  readonly filters: string;
  readonly lock: Lock | undefined;
}

function pageOf(content: string | null, page: Page): string[] {
  const { index, resources, filters, lock } = page;
  const number = 4 + 2 * index + 1;
  const dictionary = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792]
    /Resources << /Font << /F1 3 0 R >> ${resources} >> /Contents ${number} 0 R >>`;
  const plain = Buffer.from(content ?? '', 'latin1');
  const bytes = lock ? scramble(lock.keyOf(number), plain) : plain;
  const head = `<< /Length ${bytes.length} /Filter [${filters}] >>`;
  return [dictionary, `${head}\nstream\n${bytes.toString('latin1')}\nendstream`];
}

function fileOf(bodies: readonly string[], trailer: string): Buffer {
  let text = '%PDF-1.4\n';
  const offsets = bodies.map((body, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${body}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${`${offset}`.padStart(10, '0')} 00000 n \n`).join('');
  const size = bodies.length + 1;
  text += `xref\n0 ${size}\n0000000000 65535 f \n${table}`;
  const start = text.lastIndexOf('xref\n0 ');
  text += `trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}

interface Lock {
  readonly dictionary: string;
  readonly keyOf: (object: number) => Buffer;
}

const padding = Buffer.from(
  '28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a',
  'hex',
);
const padded = (password: string) =>
  Buffer.concat([Buffer.from(password), padding]).subarray(0, 32);
const digest = (...parts: readonly Buffer[]) =>
  createHash('md5').update(Buffer.concat(parts)).digest();
const hex = (bytes: Buffer) => bytes.toString('hex');

function lockOf({ user, owner }: { user: string; owner: string }, id: Buffer): Lock {
  const owned = scramble(digest(padded(owner)).subarray(0, 5), padded(user));
  const permissions = Buffer.alloc(4);
  permissions.writeInt32LE(-4);
  const key = digest(padded(user), owned, permissions, id).subarray(0, 5);
  const used = scramble(key, padding);
  return {
    dictionary: `<< /Filter /Standard /V 1 /R 2 /O <${hex(owned)}> /U <${hex(used)}> /P -4 >>`,
    keyOf: (object) => digest(key, Buffer.from([object, object >> 8, 0, 0, 0])).subarray(0, 10),
  };
}

/** RC4, which libraries have rightly dropped. */
function scramble(key: Buffer, bytes: Buffer): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index);
  const at = (index: number) => state[index & 255] ?? 0;
  const swap = (one: number, other: number) => {
    const held = at(one);
    state[one & 255] = at(other);
    state[other & 255] = held;
  };
  let other = 0;
  for (let one = 0; one < 256; one += 1) {
    other = (other + at(one) + (key[one % key.length] ?? 0)) & 255;
    swap(one, other);
  }
  let one = 0;
  other = 0;
  return Buffer.from(bytes).map((byte) => {
    one = (one + 1) & 255;
    other = (other + at(one)) & 255;
    swap(one, other);
    return byte ^ at(at(one) + at(other));
  }) as Buffer;
}
