/** A web page: its main content, and what it says of itself. */
import { decodeHtml } from '../html/charset.ts';
import { extractHtml, type NoContentReason } from '../html/extract-html.ts';
import type { DroppedText, Parser } from '../parsed.ts';
import { withoutText } from './refuse.ts';

const whyNoContent: Readonly<Record<NoContentReason, string>> = {
  empty_page: 'is a page without text',
  script_only_page:
    'shows its text only after running scripts: a browser may do that (PAWL_BROWSER)',
  login_wall:
    'asks for a login instead of showing its text: save it where you are logged in, and submit ' +
    'the file',
};

export const parseHtml: Parser = async ({ bytes, source, charset, withDropped }) => {
  const found = extractHtml(decodeHtml(bytes, charset), { url: source });
  if (!found.found) throw withoutText(`${source} ${whyNoContent[found.reason]}`);
  const { author, published, canonical, meta } = found;
  return {
    title: found.title ?? null,
    language: found.language ?? null,
    markdown: found.markdown,
    meta: {
      ...(author !== undefined && { author }),
      ...(published !== undefined && { date: published }),
      ...(canonical !== undefined && { canonical }),
      ...(meta.site !== undefined && { site: meta.site }),
      ...(meta.description !== undefined && { description: meta.description }),
      ...(meta.isDegraded && { degraded: true }),
      kept_share: Math.round(1000 * found.keptShare) / 1000,
    },
    ...(withDropped && { dropped: firstOf(found.dropped) }),
  };
};

/** It travels in a header, which is bounded, with so much beside the text of each entry. */
const droppedBounds = { charactersMax: 100_000, entryCharacters: 40 };

function firstOf(dropped: readonly DroppedText[]): DroppedText[] {
  const first: DroppedText[] = [];
  let left = droppedBounds.charactersMax;
  for (const { reason, text } of dropped) {
    if (left <= 0) break;
    first.push({ reason, text: text.slice(0, left).toWellFormed() });
    left -= text.length + droppedBounds.entryCharacters;
  }
  return first;
}
