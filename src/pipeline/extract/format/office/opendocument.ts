/** ODT and ODP: the text of `content.xml` in order; a page of a presentation is a heading. */
import { Failure } from '../../../../kernel/failure/failure.ts';
import type { Parser } from '../../parsed.ts';
import { neededPart, propertiesOf, textPart, xmlPart } from '../parts.ts';
import { toTable } from '../table.ts';
import { attributeOf, childrenOf, descendantsOf, type XmlElement } from '../xml/xml.ts';
import { openZip, type Zip } from '../zip/zip.ts';

export const parseOpenDocument: Parser = async ({ bytes, source }, signal) => {
  const zip = openZip(bytes);
  refuseEncrypted(zip, source);
  const body = descendantsOf(neededPart(zip, 'content.xml'), 'body');
  signal.throwIfAborted();
  const blocks = body.flatMap((element) => renderAll(element));
  const { title, language, meta } = propertiesOf(xmlPart(zip, 'meta.xml'));
  const pages = body
    .flatMap((element) => descendantsOf(element, 'page'))
    .map((page, index) => {
      return { page: index + 1, text: renderPage(page).join('\n\n') };
    });
  const markdown = blocks.join('\n\n');
  return { title, language, markdown, meta, ...(pages.length > 0 && { pages }) };
};

export function refuseEncrypted(zip: Zip, source: string): void {
  if (textPart(zip, 'META-INF/manifest.xml')?.includes('encryption-data')) {
    throw new Failure('encrypted_document', `${source} is protected by a password`);
  }
}

/** Deleted text, annotations and layout elements. */
const dropped = new Set(
  `tracked-changes annotation annotation-end forms sequence-decls variable-decls user-field-decls
   table-of-content note-citation desc title index-title-template bookmark settings`.split(/\s+/),
);

type Render = (element: XmlElement) => string[];

const renderers: Readonly<Record<string, Render>> = {
  h: (element) => {
    const level = Math.min(Math.max(Number(attributeOf(element, 'text:outline-level')) || 1, 1), 6);
    const text = plain(element);
    return text === '' ? [] : [`${'#'.repeat(level)} ${text}`];
  },
  p: (element) => [plain(element), ...inside(element)].filter((text) => text !== ''),
  list: (element) => [renderList(element, 0).join('\n')].filter((text) => text !== ''),
  table: (element) => [renderTable(element)].filter((text) => text !== ''),
  page: renderPage,
};

function renderAll(element: XmlElement): string[] {
  return childrenOf(element).flatMap((child) => {
    if (dropped.has(child.name)) return [];
    return renderers[child.name]?.(child) ?? renderAll(child);
  });
}

/** A slide: its title is one of its frames. */
function renderPage(page: XmlElement): string[] {
  const isTitle = (frame: XmlElement) => attributeOf(frame, 'presentation:class') === 'title';
  const titles = childrenOf(page, 'frame').filter(isTitle);
  const title = titles.flatMap(renderAll).join(' ').replace(/\s+/g, ' ').trim();
  const rest = childrenOf(page).filter((child) => !titles.includes(child));
  const shown = rest.filter(({ name }) => name !== 'notes').flatMap((child) => rendered(child));
  const notes = rest.filter(({ name }) => name === 'notes').flatMap(renderNotes);
  if (title === '' && shown.length + notes.length === 0) return [];
  const name = title || attributeOf(page, 'draw:name') || 'Slide';
  return [`## ${name}`, ...shown, ...notes];
}

function rendered(element: XmlElement): string[] {
  if (dropped.has(element.name)) return [];
  return renderers[element.name]?.(element) ?? renderAll(element);
}

function renderNotes(notes: XmlElement): string[] {
  const text = childrenOf(notes, 'frame').flatMap(renderAll).join('\n\n');
  return text === '' ? [] : [`Notes: ${text}`];
}

const spread = new Set(['text-box', 'note-body', 'table']);

/** The words of a paragraph, without those of frames and notes inside it. */
function plain(element: XmlElement): string {
  return words(element)
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .trim();
}

function words(element: XmlElement): string {
  return element.children
    .map((child) => {
      if (typeof child === 'string') return child.replace(/\s+/g, ' ');
      if (child.name === 's' || child.name === 'tab') return ' ';
      if (child.name === 'line-break') return '\n';
      return dropped.has(child.name) || spread.has(child.name) ? '' : words(child);
    })
    .join('');
}

/** Frames and notes of a paragraph follow it. */
function inside(element: XmlElement): string[] {
  return childrenOf(element).flatMap((child) => {
    if (dropped.has(child.name)) return [];
    if (child.name === 'table') return [renderTable(child)];
    return spread.has(child.name) ? renderAll(child) : inside(child);
  });
}

function renderList(list: XmlElement, depth: number): string[] {
  return childrenOf(list).flatMap((item) =>
    childrenOf(item).flatMap((child) => {
      if (child.name === 'list') return renderList(child, depth + 1);
      const text = plain(child).replaceAll('\n', ' ');
      return text === '' ? [] : [`${'   '.repeat(Math.min(depth, 6))}- ${text}`];
    }),
  );
}

/** Cells covered by a span are present and empty. */
function renderTable(table: XmlElement): string {
  const rows = descendantsOf(table, 'table-row').map((row) =>
    childrenOf(row).map((cell) => renderAll(cell).join(' ').replace(/\s+/g, ' ')),
  );
  return toTable(rows);
}
