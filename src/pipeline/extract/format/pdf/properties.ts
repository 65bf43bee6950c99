/** Title, author and date of a PDF, if they are not compressed. */
import type { Parsed } from '../../parsed.ts';
import { decodeXml } from '../xml/xml.ts';

type PdfProperties = Pick<Parsed, 'title' | 'meta'>;

const dictionaryBytesMax = 16_384;
const packetBytesMax = 65_536;

export function pdfProperties(bytes: Uint8Array): PdfProperties {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // In a protected file these are encrypted too.
  const entry = buffer.includes('/Encrypt') ? '' : dictionaryOf(buffer);
  const packet = packetOf(buffer);
  const title = stringOf(entry, 'Title') ?? itemOf(packet, 'dc:title');
  const author = stringOf(entry, 'Author') ?? itemOf(packet, 'dc:creator');
  const date = dateOf(stringOf(entry, 'ModDate') ?? stringOf(entry, 'CreationDate'));
  return {
    title: title === undefined || isNoTitle(title) ? null : title,
    meta: { ...(author !== undefined && { author }), ...(date !== undefined && { date }) },
  };
}

/** Programs use the file name as title. */
function isNoTitle(title: string): boolean {
  const isFile = /\.(?:docx?|pptx?|xlsx?|tex|dvi|indd|pdf|qxd|html?)$/i.test(title);
  return isFile || /^(?:untitled$|microsoft word - )/i.test(title);
}

/** The trailer refers to the object with the properties. */
function dictionaryOf(buffer: Buffer): string {
  const named = buffer.lastIndexOf('/Info');
  if (named < 0) return '';
  const id = /^\/Info\s+(\d{1,10})\s+(\d{1,5})\s+R/.exec(
    buffer.toString('latin1', named, named + 40),
  );
  const mark = id && `${id[1]} ${id[2]} obj`;
  for (let at = mark ? buffer.lastIndexOf(mark) : -1; mark && at >= 0; ) {
    const isWhole = at === 0 || !/\d/.test(String.fromCharCode(buffer[at - 1] ?? 0));
    if (isWhole) {
      const end = buffer.indexOf('endobj', at);
      const stop = Math.min(end < 0 ? buffer.length : end, at + dictionaryBytesMax);
      return buffer.toString('latin1', at, stop);
    }
    at = at === 0 ? -1 : buffer.lastIndexOf(mark, at - 1);
  }
  return '';
}

function packetOf(buffer: Buffer): string {
  const start = buffer.indexOf('<x:xmpmeta');
  return start < 0 ? '' : buffer.toString('utf8', start, start + packetBytesMax);
}

function itemOf(packet: string, name: string): string | undefined {
  const start = packet.indexOf(`<${name}>`);
  if (start < 0) return undefined;
  const item = /<rdf:li[^>]{0,200}>([^<]{1,1000})/.exec(packet.slice(start, start + 4000))?.[1];
  return tidy(decodeXml(item ?? ''));
}

function stringOf(entry: string, name: string): string | undefined {
  const found = new RegExp(
    `/${name}\\s*(?:\\(((?:[^()\\\\]|\\\\[^]){0,4000})\\)|<([0-9a-fA-F\\s]{0,8000})>)`,
  ).exec(entry);
  if (!found) return undefined;
  const [, literal, hex] = found;
  const raw =
    literal === undefined
      ? Buffer.from((hex ?? '').replace(/\s/g, ''), 'hex')
      : Buffer.from(unescaped(literal), 'latin1');
  const isWide = raw[0] === 0xfe && raw[1] === 0xff;
  return tidy(new TextDecoder(isWide ? 'utf-16be' : 'windows-1252').decode(raw));
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '', f: '' };

function unescaped(literal: string): string {
  return literal.replace(/\\(?:([0-7]{1,3})|([\s\S]))/g, (_, octal, character) =>
    octal === undefined
      ? (escapes[character] ?? character)
      : String.fromCharCode(Number.parseInt(octal, 8) & 0xff),
  );
}

function tidy(text: string): string | undefined {
  return text.replace(/\s+/g, ' ').trim() || undefined;
}

/** `D:20240506…` as a date. */
function dateOf(text: string | undefined): string | undefined {
  const parts = /^D:(\d{4})(\d{2})(\d{2})/.exec(text ?? '');
  return parts ? `${parts[1]}-${parts[2]}-${parts[3]}` : undefined;
}
