/** Detects types by the first bytes. Headers and names only state an intention. */
import { Failure } from '../../../kernel/failure/failure.ts';
import { openZip } from '../../extract/format/zip/zip.ts';

type Magic = readonly [mediaType: string, signature: string | RegExp, offset?: number];

/** Signatures in Latin-1: one character per byte. */
const magics: readonly Magic[] = [
  ['application/pdf', /^[\s\S]{0,1023}?%PDF-/],
  ['application/rtf', '{\\rtf'],
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
  ['image/tiff', /^(?:II\*\0|MM\0\*)/],
  ['image/bmp', /^BM[\s\S]{4}\0\0\0\0/],
  ['image/x-icon', '\0\0\x01\0'],
  ['image/avif', /^[\s\S]{4}ftypavi[fs]/],
  ['image/heic', /^[\s\S]{4}ftyp(?:heic|heix|mif1)/],
  ['audio/mpeg', /^(?:ID3|\xff[\xfb\xf3\xf2])/],
  ['audio/wav', /^RIFF[\s\S]{4}WAVE/],
  ['audio/flac', 'fLaC'],
  ['audio/ogg', 'OggS'],
  ['audio/mp4', /^[\s\S]{4}ftypM4A/],
  ['video/mp4', /^[\s\S]{4}ftyp/],
  ['video/webm', '\x1aE\xdf\xa3'],
  ['application/gzip', '\x1f\x8b'],
  ['application/x-bzip2', 'BZh'],
  ['application/x-7z-compressed', "7z\xbc\xaf'\x1c"],
  ['application/x-rar', 'Rar!\x1a\x07'],
  ['application/zstd', '\x28\xb5\x2f\xfd'],
  ['application/x-tar', 'ustar', 257],
  ['application/x-ole-storage', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'],
  ['application/x-elf', '\x7fELF'],
  ['application/x-msdownload', /^MZ[\s\S]{0,200}(?:This program|PE\0\0)/],
  ['application/wasm', '\0asm'],
  ['font/woff', 'wOFF'],
  ['font/woff2', 'wOF2'],
];

const office = 'application/vnd.openxmlformats-officedocument';
const oasis = 'application/vnd.oasis.opendocument';

/** The names of the main part in the content types of an Office file. */
const mainParts: readonly [mediaType: string, part: RegExp][] = [
  ['application/vnd.ms-excel.sheet.binary.macroenabled.12', /sheet\.binary\.macroEnabled/i],
  [
    `${office}.wordprocessingml.document`,
    /(?:wordprocessingml\.|ms-word\.)(?:document|template)\.(?:macroEnabled\w*\.)?main\+xml/i,
  ],
  [
    `${office}.spreadsheetml.sheet`,
    /(?:spreadsheetml\.|ms-excel\.)(?:sheet|template)\.(?:macroEnabled\w*\.)?main\+xml/i,
  ],
  [
    `${office}.presentationml.presentation`,
    /(?:presentationml|powerpoint)\.(?:presentation|slideshow|template)\.(?:macro\w+\.)?main\+xml/i,
  ],
];

/** For damaged archives: recognizes the entry names that are left. */
const zips: readonly [mediaType: string, entry: RegExp][] = [
  ['application/epub+zip', /mimetypeapplication\/epub\+zip/],
  [`${oasis}.text`, /mimetypeapplication\/vnd\.oasis\.opendocument\.text/],
  [`${oasis}.spreadsheet`, /mimetypeapplication\/vnd\.oasis\.opendocument\.spreadsheet/],
  [`${oasis}.presentation`, /mimetypeapplication\/vnd\.oasis\.opendocument\.presentation/],
  [`${office}.wordprocessingml.document`, /word\//],
  [`${office}.spreadsheetml.sheet`, /xl\//],
  [`${office}.presentationml.presentation`, /ppt\//],
];

const headBytes = 8192;

/** The type of binary content, if its beginning shows it. */
export function sniffBinary(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, headBytes)).toString('latin1');
  if (head.startsWith('PK\x03\x04')) return zipType(bytes, head);
  return magics.find(([, signature, offset = 0]) =>
    typeof signature === 'string' ? head.startsWith(signature, offset) : signature.test(head),
  )?.[0];
}

function zipType(bytes: Uint8Array, head: string): string {
  try {
    const zip = openZip(bytes);
    const read = (name: string) => Buffer.from(zip.read(name) ?? []).toString('latin1');
    const own = read('mimetype').trim();
    if (/^application\/[\w.+-]{1,100}$/.test(own)) return own;
    const parts = read('[Content_Types].xml');
    const main = mainParts.find(([, part]) => part.test(parts))?.[0];
    return main ?? 'application/zip';
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return damagedZipType(bytes, head);
  }
}

/** All entry names are repeated at the end, so the end of a small archive is checked too. */
function damagedZipType(bytes: Uint8Array, head: string): string {
  const tail = Buffer.from(bytes.subarray(-64 * 1024)).toString('latin1');
  const names = head + tail;
  return zips.find(([, entry]) => entry.test(names))?.[0] ?? 'application/zip';
}

/** Whether the text begins like a web page. */
export function looksLikeHtml(text: string): boolean {
  const start = startOfMarkup(text);
  return /^<(?:!doctype\s+html|html|head|body|title|script|h1|div|p|table|meta)[\s>]/i.test(start);
}

/** Whether it can be nothing else: Markdown and templates may begin with an element. */
export function isWholePage(text: string): boolean {
  return /^<(?:!doctype\s+html|html)[\s>]/i.test(startOfMarkup(text));
}

function startOfMarkup(text: string): string {
  return text.slice(0, 1024).replace(/^\uFEFF?(?:\s|<!--[\s\S]*?-->|<\?xml[^>]*>)*/, '');
}

const mailHeaders = [
  ...['received', 'return-path', 'from', 'to', 'date', 'subject', 'message-id', 'mime-version'],
  ...['delivered-to', 'dkim-signature', 'reply-to', 'sender', 'content-type', 'x-[\\w-]+'],
  ...['arc-[\\w-]+', 'authentication-results', 'list-[\\w-]+'],
];
const mailHeader = new RegExp(`^(?:${mailHeaders.join('|')}):\\s`, 'i');

/** Whether the text begins with mail headers that include an author. */
export function looksLikeMail(text: string): boolean {
  if (!mailHeader.test(text)) return false;
  const headers = text.slice(0, 16_384).split(/\r?\n\r?\n/, 1)[0] ?? '';
  const isHeader = headers.split(/\r?\n/).every((line) => /^(?:[!-9;-~]{1,76}:|[ \t])/.test(line));
  return (
    isHeader &&
    /^from:/im.test(headers) &&
    /^(?:date|message-id|mime-version|received):/im.test(headers)
  );
}

/**
 * Whether the text looks like JSON or JSON lines, by its beginning. Notes begin with `[1]` and
 * wikis with `[[`, so a list of numbers or of lists counts as text.
 */
export function jsonTypeOf(text: string): string | undefined {
  const [first = '', second = ''] = text.trimStart().split(/\r?\n/, 2);
  if (!/^(?:\{\s*(?:"|\}|$)|\[\s*(?:[{"\]]|$))/.test(first)) return undefined;
  const isWholeLine = /^\{.*\}\s*$/.test(first) && /^\{/.test(second);
  return isWholeLine ? 'application/x-ndjson' : 'application/json';
}
