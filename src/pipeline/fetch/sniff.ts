/** What bytes are, by how they begin. Headers and names only say what they are meant to be. */

type Magic = readonly [mediaType: string, signature: string | RegExp, offset?: number];

/** Signatures in Latin-1: one character a byte. */
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

/** A ZIP is what its first entries say. */
const zips: readonly [mediaType: string, entry: RegExp][] = [
  ['application/epub+zip', /mimetypeapplication\/epub\+zip/],
  [
    'application/vnd.oasis.opendocument.text',
    /mimetypeapplication\/vnd\.oasis\.opendocument\.text/,
  ],
  [
    'application/vnd.oasis.opendocument.spreadsheet',
    /mimetypeapplication\/vnd\.oasis\.opendocument\.spreadsheet/,
  ],
  [
    'application/vnd.oasis.opendocument.presentation',
    /mimetypeapplication\/vnd\.oasis\.opendocument\.presentation/,
  ],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', /word\//],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', /xl\//],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', /ppt\//],
];

const headBytes = 8192;

/** The type of bytes that are not text, where their beginning tells. */
export function sniffBinary(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, headBytes)).toString('latin1');
  if (head.startsWith('PK\x03\x04')) return zipType(bytes, head);
  return magics.find(([, signature, offset = 0]) =>
    typeof signature === 'string' ? head.startsWith(signature, offset) : signature.test(head),
  )?.[0];
}

/** The names of all entries stand again at the end, where small archives are looked at too. */
function zipType(bytes: Uint8Array, head: string): string {
  const tail = Buffer.from(bytes.subarray(-64 * 1024)).toString('latin1');
  const names = head + tail;
  return zips.find(([, entry]) => entry.test(names))?.[0] ?? 'application/zip';
}

/** Whether the text begins as a web page does. */
export function looksLikeHtml(text: string): boolean {
  const start = text.slice(0, 1024).replace(/^\uFEFF?(?:\s|<!--[\s\S]*?-->|<\?xml[^>]*>)*/, '');
  return /^<(?:!doctype\s+html|html|head|body|title|script|h1|div|p|table|meta)[\s>]/i.test(start);
}
