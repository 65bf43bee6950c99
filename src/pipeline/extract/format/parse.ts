/** Bytes of any format to Markdown. */
import { Failure } from '../../../kernel/failure.ts';
import { decodeHtml } from '../html/charset.ts';
import type { NoContentReason } from '../html/extract-html.ts';
import type { Parsed, ParseInput } from '../parsed.ts';

export async function parse(input: ParseInput, signal: AbortSignal): Promise<Parsed> {
  signal.throwIfAborted();
  if (/^(?:text\/html|application\/xhtml\+xml)$/.test(input.mediaType)) return parseHtml(input);
  const markdown = new TextDecoder().decode(input.bytes);
  return { title: null, language: null, markdown, meta: {} };
}

async function parseHtml({ bytes, charset, source }: ParseInput): Promise<Parsed> {
  // Who reads only text need not load what reads pages.
  const { extractHtml } = await import('../html/extract-html.ts');
  const found = extractHtml(decodeHtml(bytes, charset), { url: source });
  if (!found.found) {
    throw new Failure('no_usable_content', `${source} ${whyNoContent[found.reason]}`);
  }
  const { title, language, author, published, canonical, markdown } = found;
  const { isDegraded, ...told } = found.meta;
  const known = Object.entries({ author, published, canonical, ...told }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const meta = { ...Object.fromEntries(known), ...(isDegraded && { degraded: true }) };
  return { title: title ?? null, language: language ?? null, markdown, meta };
}

const whyNoContent: Readonly<Record<NoContentReason, string>> = {
  empty_page: 'is a page without text',
  script_only_page: 'shows its text only after running scripts, which Pawl does not do',
  login_wall: 'asks for a login instead of showing its text',
};
