/** XML of any kind: titles as headings, long texts as paragraphs, the rest as names and values. */
import type { Parser } from '../../parsed.ts';
import { decodeText } from '../text/decode-text.ts';
import { charsetMeta } from '../text/text.ts';
import { parseHtml } from './html.ts';
import { readHtmlDocument } from './html-document.ts';
import { childrenOf, descendantsOf, readXml, textOf, type XmlElement } from './xml.ts';

const lineCharactersMax = 100;
const titles = new Set(['title', 'headline', 'heading', 'head']);

export const parseXml: Parser = async (input, signal) => {
  const { bytes } = input;
  const head = Buffer.from(bytes.subarray(0, 400)).toString('latin1');
  const declared = /^[^<]{0,4}<\?xml[^>]*encoding\s*=\s*["']([\w:.-]{1,40})/i.exec(head)?.[1];
  const { text, charset, isGuess } = decodeText(bytes, declared ?? input.charset);
  const root = readXml(text);
  if (childrenOf(root, 'html').length > 0) return parseHtml(input, signal);
  const title = flat(descendantsOf(root, 'title')[0]);
  return {
    title: title === '' ? null : title,
    language: /^[\s\S]{0,2000}?\sxml:lang\s*=\s*["']([\w-]{2,20})/.exec(text)?.[1] ?? null,
    markdown: joined(render(root, 0)),
    meta: charsetMeta(charset, isGuess),
  };
};

/** Short values form a list. */
function joined(blocks: readonly string[]): string {
  let text = '';
  let wasItem = false;
  for (const block of blocks) {
    const isItem = /^- .*$/.test(block);
    text += text === '' ? block : `${isItem && wasItem ? '\n' : '\n\n'}${block}`;
    wasItem = isItem;
  }
  return text;
}

function flat(element: XmlElement | undefined): string {
  return element ? textOf(element).replace(/\s+/g, ' ').trim() : '';
}

function render(element: XmlElement, depth: number): string[] {
  const inner = childrenOf(element);
  const isMixed = element.children.some(
    (child) => typeof child === 'string' && child.trim() !== '',
  );
  if (inner.length > 0 && !isMixed) return inner.flatMap((child) => render(child, depth + 1));
  const text = flat(element);
  if (text === '') return [];
  if (inner.length === 0 && titles.has(element.name)) {
    return [`${'#'.repeat(Math.min(Math.max(depth - 1, 1), 6))} ${text}`];
  }
  // Feeds contain HTML inside their elements.
  if (/<(?:p|br|a|div|li|img|b|i|em|strong|h[1-6])[\s/>]/i.test(text)) {
    return [readHtmlDocument(textOf(element), { hasGrids: false }).markdown];
  }
  const isText = isMixed && inner.length > 0;
  return isText || text.length > lineCharactersMax ? [text] : [`- ${element.name}: ${text}`];
}
