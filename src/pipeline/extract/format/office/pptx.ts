/**
 * PPTX: each slide is a heading, followed by its texts, lists, tables and diagrams, notes and
 * comments.
 */
import { limits } from '../../../../kernel/limits/limits.ts';
import { joinPages } from '../../../page-starts.ts';
import { partOf, withLosses } from '../../loss.ts';
import type { Parser } from '../../parsed.ts';
import { neededPart, propertiesOf, type Relation, relationsOf, xmlPart } from '../parts.ts';
import { beyond } from '../refuse.ts';
import { toTable } from '../table.ts';
import {
  attributeOf,
  childOf,
  childrenOf,
  descendantsOf,
  textOf,
  type XmlElement,
} from '../xml/xml.ts';
import { openZip, type Zip } from '../zip/zip.ts';

const presentation = 'ppt/presentation.xml';

export const parsePptx: Parser = async ({ bytes, withDropped }, signal) => {
  const zip = openZip(bytes);
  const listed = slidesOf(zip);
  const slides = listed.flatMap(({ target }) => target ?? []);
  const pages = slides.map((path, index) => {
    signal.throwIfAborted();
    return { page: index + 1, text: renderSlide(zip, path, index + 1) };
  });
  const { title, language, meta } = propertiesOf(xmlPart(zip, 'docProps/core.xml'));
  const parsed = {
    title: isPlaceholderTitle(title) ? null : title,
    language,
    markdown: joinPages(pages),
    pages,
    meta: { ...meta, slides: slides.length },
  };
  const missing = listed.filter(({ target }) => target === undefined).map(({ name }) => name);
  const warning = `${partOf(missing.length, listed.length, 'slides')} not read: missing.`;
  const losses = missing.length > 0 ? [{ warning, reason: 'missing', texts: missing }] : [];
  const counts = { read: slides.length, whole: listed.length };
  return withLosses(parsed, { ...counts, losses, withDropped });
};

/** The default title of an untitled presentation. */
function isPlaceholderTitle(title: string | null): boolean {
  return /^(?:PowerPoint[ -]?(?:Presentation|Präsentation)|Présentation PowerPoint)$/i.test(
    title ?? '',
  );
}

interface ListedSlide {
  readonly name: string;
  /** Undefined if the file has no such part. */
  readonly target: string | undefined;
}

/** In display order. */
function slidesOf(zip: Zip): ListedSlide[] {
  const targets = new Map(relationsOf(zip, presentation).map(({ id, target }) => [id, target]));
  const slides = descendantsOf(neededPart(zip, presentation), 'sldId');
  if (slides.length > limits.parse.zipEntriesMax) {
    throw beyond('slides', `the presentation has ${slides.length} slides`);
  }
  return slides.map((slide, index) => ({
    name: `slide ${index + 1}`,
    target: targets.get(attributeOf(slide, 'r:id') ?? ''),
  }));
}

function renderSlide(zip: Zip, path: string, number: number): string {
  const slide = neededPart(zip, path);
  const relations = relationsOf(zip, path);
  const shapes = shapesOf(slide);
  const titleShape = shapes.find((shape) =>
    /^(?:title|ctrTitle)$/.test(placeholderOf(shape) ?? ''),
  );
  const title = titleShape ? paragraphsOf(titleShape).map(plain).join(' ').trim() : '';
  const blocks = shapes.filter((shape) => shape !== titleShape).map(renderShape);
  const beside = [renderNotes(zip, relations), renderComments(zip, relations)];
  const parts = [...blocks, ...renderDiagrams(zip, relations), ...beside];
  const shown = parts.filter((part) => part !== '');
  if (title === '' && shown.length === 0) return '';
  return [`## ${title || `Slide ${number}`}`, ...shown].join('\n\n');
}

/** Shapes and tables, including those in groups. */
function shapesOf(element: XmlElement): XmlElement[] {
  return childrenOf(element).flatMap((child) => {
    if (child.name === 'sp' || child.name === 'graphicFrame') return [child];
    // Some content is stored twice: in a new format, and for older programs.
    return child.name === 'Fallback' ? [] : shapesOf(child);
  });
}

const decoration = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg']);

/** The layout placeholder that the shape fills; undefined for free shapes. */
function placeholderOf(shape: XmlElement): string | undefined {
  const [placeholder] = descendantsOf(shape, 'ph');
  return placeholder && (attributeOf(placeholder, 'type') ?? 'body');
}

function renderShape(shape: XmlElement): string {
  const placeholder = placeholderOf(shape);
  if (decoration.has(placeholder ?? '')) return '';
  const [table] = descendantsOf(shape, 'tbl');
  if (table) return renderTable(table);
  const isList = placeholder !== undefined && placeholder !== 'subTitle';
  const paragraphs = paragraphsOf(shape).filter((paragraph) => plain(paragraph) !== '');
  if (!isList || paragraphs.length < 2) return paragraphs.map(plain).join('\n\n');
  return paragraphs.map(renderItem).join('\n');
}

function renderItem(paragraph: XmlElement): string {
  const properties = childOf(paragraph, 'pPr');
  const level = Number(properties && attributeOf(properties, 'lvl')) || 0;
  return `${'   '.repeat(Math.min(Math.max(level, 0), 6))}- ${plain(paragraph)}`;
}

function renderTable(table: XmlElement): string {
  const rows = childrenOf(table, 'tr').map((row) =>
    childrenOf(row, 'tc').map((cell) => paragraphsOf(cell).map(plain).join(' ')),
  );
  return toTable(rows);
}

function paragraphsOf(shape: XmlElement): XmlElement[] {
  return descendantsOf(shape, 'txBody').flatMap((body) => childrenOf(body, 'p'));
}

/** Runs and fields; a line break is a space. */
function plain(paragraph: XmlElement): string {
  const words = childrenOf(paragraph).map((child) => {
    if (child.name === 'br') return ' ';
    return descendantsOf(child, 't').map(textOf).join('');
  });
  return words.join('').replace(/\s+/g, ' ').trim();
}

/** The texts of diagrams and charts are in separate parts. */
function renderDiagrams(zip: Zip, relations: readonly Relation[]): string[] {
  return relations.flatMap(({ type, target }) => {
    const part = type === 'diagramData' || type === 'chart' ? xmlPart(zip, target) : undefined;
    if (!part) return [];
    const texts = type === 'chart' ? chartTexts(part) : diagramTexts(part);
    return [texts.map((text) => `- ${text}`).join('\n')];
  });
}

function diagramTexts(part: XmlElement): string[] {
  return descendantsOf(part, 'p')
    .map(plain)
    .filter((text) => text !== '');
}

/** The title, then each series with its values by category. */
function chartTexts(part: XmlElement): string[] {
  const titles = descendantsOf(part, 'title').map((title) =>
    descendantsOf(title, 't').map(textOf).join('').trim(),
  );
  const series = descendantsOf(part, 'ser').map((one) => {
    const [name = [], categories = [], values = []] = ['tx', 'cat', 'val'].map((field) => {
      const found = childOf(one, field);
      return found ? descendantsOf(found, 'v').map(textOf) : [];
    });
    const pairs = values.map((value, index) => `${categories[index] ?? index + 1} ${value}`);
    return `${name.join(' ')}: ${pairs.join(', ')}`;
  });
  return [...titles, ...series].filter((text) => text !== '');
}

function renderNotes(zip: Zip, relations: readonly Relation[]): string {
  const path = relations.find(({ type }) => type === 'notesSlide')?.target;
  const notes = path === undefined ? undefined : xmlPart(zip, path);
  if (!notes) return '';
  const texts = shapesOf(notes)
    .filter((shape) => placeholderOf(shape) === 'body')
    .flatMap((shape) => paragraphsOf(shape).map(plain))
    .filter((text) => text !== '');
  return texts.length === 0 ? '' : `Notes: ${texts.join('\n\n')}`;
}

/** In both formats that PowerPoint writes: the newer one has replies. */
function renderComments(zip: Zip, relations: readonly Relation[]): string {
  const lines = relations.flatMap(({ type, target }) => {
    const part = type === 'comments' ? xmlPart(zip, target) : undefined;
    return part ? descendantsOf(part, 'cm').flatMap(commentLines) : [];
  });
  return lines.length === 0 ? '' : ['Comments:', '', ...lines].join('\n');
}

function commentLines(comment: XmlElement): string[] {
  const replies = descendantsOf(comment, 'reply').map((reply) => `   - ${commentText(reply)}`);
  return [`- ${commentText(comment)}`, ...replies].filter((line) => !/^ *- $/.test(line));
}

function commentText(comment: XmlElement): string {
  const body = childOf(comment, 'txBody');
  if (body) return childrenOf(body, 'p').map(plain).join(' ').trim();
  const text = childOf(comment, 'text');
  return text ? textOf(text).replace(/\s+/g, ' ').trim() : '';
}
