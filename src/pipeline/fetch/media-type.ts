/** What kind of text the bytes are, by the name and by a look inside. */
import { extname } from 'node:path';
import { isUtf8 } from './charset.ts';

export type MediaType = 'text/plain' | 'text/markdown' | 'text/html';

/** What `content_extracted` can make text of. */
const readable = /^(?:text\/(?:plain|markdown|html|csv)|application\/(?:json|xml))$/;

export function isReadable(mediaType: string): boolean {
  return readable.test(mediaType);
}

const byExtension: Readonly<Record<string, MediaType>> = {
  '.md': 'text/markdown',
  '.markdown': 'text/markdown',
  '.html': 'text/html',
  '.htm': 'text/html',
  '.xhtml': 'text/html',
};

const lookedAtBytes = 8192;

/** Undefined for what is not text: a zero byte, or bytes that are not UTF-8. */
export function mediaTypeOf(name: string, bytes: Uint8Array): MediaType | undefined {
  const head = bytes.subarray(0, lookedAtBytes);
  if (head.includes(0) || !isUtf8(head, 'start')) return undefined;
  const known = byExtension[extname(name).toLowerCase()];
  if (known) return known;
  const start = new TextDecoder().decode(head.subarray(0, 512)).trimStart().toLowerCase();
  return start.startsWith('<!doctype html') || start.startsWith('<html')
    ? 'text/html'
    : 'text/plain';
}
