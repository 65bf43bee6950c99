/** EPUB: the documents of its spine, in reading order. */
import { posix } from 'node:path';
import { Failure } from '../../../../kernel/failure/failure.ts';
import { decodeHtml } from '../../html/page/charset.ts';
import { partOf, withLosses } from '../../loss.ts';
import type { Parser } from '../../parsed.ts';
import { neededPart, propertiesOf, textPart } from '../parts.ts';
import { damaged } from '../refuse.ts';
import { openZip, type Zip } from '../zip/zip.ts';
import { readHtmlDocument } from './html-document.ts';
import { attributeOf, descendantsOf, type XmlElement } from './xml.ts';

export const parseEpub: Parser = async ({ bytes, source, withDropped }, signal) => {
  const zip = openZip(bytes);
  const [rootFile] = descendantsOf(neededPart(zip, 'META-INF/container.xml'), 'rootfile');
  const path = rootFile && attributeOf(rootFile, 'full-path');
  if (path === undefined) throw damaged(`${source} does not say where its content is`);
  const book = neededPart(zip, path);
  const chapters = chaptersOf(book, path);
  refuseLocked(zip, { source, chapters });
  const missing: string[] = [];
  const texts = chapters.map((chapter) => {
    signal.throwIfAborted();
    const page = zip.read(chapter);
    if (!page) missing.push(chapter);
    return page ? readHtmlDocument(decodeHtml(page), { hasGrids: true }).markdown : '';
  });
  const { title, language, meta } = propertiesOf(descendantsOf(book, 'metadata')[0]);
  const markdown = texts.filter((text) => text !== '').join('\n\n');
  const whole = chapters.length;
  const warning = `${partOf(missing.length, whole, 'chapters')} not read: the book lacks them.`;
  const losses = missing.length > 0 ? [{ warning, reason: 'missing', texts: missing }] : [];
  const read = whole - missing.length;
  return withLosses({ title, language, markdown, meta }, { read, whole, losses, withDropped });
};

function chaptersOf(book: XmlElement, path: string): string[] {
  const manifest = new Map(
    descendantsOf(book, 'item').map((item) => [attributeOf(item, 'id'), item]),
  );
  return descendantsOf(book, 'itemref').flatMap((reference) => {
    const item = manifest.get(attributeOf(reference, 'idref'));
    const href = item && attributeOf(item, 'href');
    // The table of contents repeats the headings.
    const isNavigation = item && /\bnav\b/.test(attributeOf(item, 'properties') ?? '');
    if (href === undefined || isNavigation) return [];
    return [posix.join(posix.dirname(path), decodePath(href))];
  });
}

function decodePath(href: string): string {
  const path = href.replace(/[?#].*$/s, '');
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // A stray percent sign is then part of the name.
  }
}

interface Book {
  readonly source: string;
  readonly chapters: readonly string[];
}

/** Fonts may be encrypted; if chapters are, the book is locked to a device. */
function refuseLocked(zip: Zip, { source, chapters }: Book): void {
  const locks = textPart(zip, 'META-INF/encryption.xml') ?? '';
  const isLocked = [...locks.matchAll(/URI\s*=\s*["']([^"']{1,500})/g)].some(([, uri = '']) =>
    chapters.includes(decodePath(uri)),
  );
  if (isLocked) throw new Failure('encrypted_document', `${source} is locked to a device`);
}
