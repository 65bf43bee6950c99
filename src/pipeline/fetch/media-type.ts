/** What kind of text the bytes are, by the name and by a look inside. */
import { extname } from 'node:path';

export type MediaType = 'text/plain' | 'text/markdown' | 'text/html';

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
  if (head.includes(0) || !isUtf8Prefix(head)) return undefined;
  const known = byExtension[extname(name).toLowerCase()];
  if (known) return known;
  const start = new TextDecoder().decode(head.subarray(0, 512)).trimStart().toLowerCase();
  return start.startsWith('<!doctype html') || start.startsWith('<html')
    ? 'text/html'
    : 'text/plain';
}

function isUtf8Prefix(head: Uint8Array): boolean {
  try {
    // Streaming: a character cut off by the end of the head is not an error.
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false; // That it is not UTF-8 is the answer.
  }
}
