/** DOCX: mammoth converts its styles to HTML, and every block of that is kept. */
import mammoth from 'mammoth';
import { limits } from '../../../../kernel/limits/limits.ts';
import { countWords } from '../../html/block/blocks.ts';
import { type Reading, withLosses } from '../../loss.ts';
import type { Parser } from '../../parsed.ts';
import { checkedParts, propertiesOf, xmlPart } from '../parts.ts';
import { guarded } from '../refuse.ts';
import { readHtmlDocument } from '../xml/html-document.ts';
import { openZip } from '../zip/zip.ts';
import { withFields } from './docx-fields.ts';
import { notesOfDocx, streamDocx, wordDocument } from './docx-stream.ts';
import { withEquations } from './equation.ts';

const styleMap = [
  "p[style-name='Title'] => h1:fresh",
  "p[style-name='Subtitle'] => p:fresh",
  "p[style-name='Quote'] => blockquote:fresh",
  "p[style-name='Intense Quote'] => blockquote:fresh",
  "p[style-name='HTML Preformatted'] => pre:separator('\\n')",
  "p[style-name='Preformatted Text'] => pre:separator('\\n')",
  'comment-reference => sup',
];

export const parseDocx: Parser = async ({ bytes, source, withDropped }, signal) => {
  const zip = openZip(bytes);
  const buffer = checkedParts(zip, limits.parse.xmlElementsMax, (name, text) =>
    name.startsWith('word/') ? withFields(withEquations(text)) : text,
  );
  signal.throwIfAborted();
  const isLong = (zip.read(wordDocument)?.length ?? 0) > limits.parse.docxTreeBytesMax;
  const markdown = isLong ? streamDocx(zip) : await convert(buffer, source);
  const { title, language, meta } = propertiesOf(xmlPart(zip, 'docProps/core.xml'));
  const parsed = { title, language, markdown, meta };
  if (!isLong) return parsed;
  const degraded = { ...parsed, meta: { ...meta, degraded: true } };
  return withLosses(degraded, { ...notesLeftOut(markdown, notesOfDocx(zip)), withDropped });
};

function notesLeftOut(markdown: string, notes: readonly string[]): Reading {
  const read = countWords(markdown);
  const whole = read + countWords(notes.join('\n'));
  const warning = `Notes and comments (${notes.length}) were not read: the document is too long.`;
  const losses = notes.length > 0 ? [{ warning, reason: 'note', texts: notes }] : [];
  return { read, whole, losses };
}

async function convert(buffer: Buffer, source: string): Promise<string> {
  const { value: html } = await guarded(source, () =>
    mammoth.convertToHtml(
      { buffer },
      {
        styleMap,
        // Pictures are not read, and links to pictures are not followed.
        convertImage: mammoth.images.imgElement(async () => ({ src: '' })),
        externalFileAccess: false,
      },
    ),
  );
  return readHtmlDocument(withoutBackLinks(html), { hasGrids: true }).markdown;
}

/** Footnotes link back to their reference with an arrow, which is meaningless in text. */
function withoutBackLinks(html: string): string {
  return html.replace(/<a href="#(?:footnote|endnote|comment)-ref-[^"]*">↑<\/a>/g, '');
}
