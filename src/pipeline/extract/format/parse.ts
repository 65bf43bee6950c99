/**
 * From bytes of any format to Markdown. The result is clean: normalized characters, no control
 * characters, at least one word, and within the size limit; otherwise there is a `Failure`.
 */
import { Failure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { refine } from '../../fetch/http/media-type.ts';
import { joinPages, pageStartsOf } from '../../page-starts.ts';
import type { Parsed, ParseInput } from '../parsed.ts';
import { type Format, formatOf } from './formats.ts';
import { beyond, damaged, withoutText } from './refuse.ts';
import { unsupported } from './unsupported.ts';

export async function parse(input: ParseInput, signal: AbortSignal): Promise<Parsed> {
  signal.throwIfAborted();
  const { bytes, source } = input;
  if (bytes.length === 0) throw new Failure('empty_source', `${source} has no bytes`);
  const mediaType = refine(input.mediaType.toLowerCase(), input);
  const format = formatOf(mediaType);
  if (!format) throw unsupported(source, mediaType);
  const parser = await format.load();
  return finish(await run(() => parser({ ...input, mediaType }, signal), input), {
    format,
    source,
  });
}

/** Our own readers recurse as deep as their limits allow; a small stack overflows earlier. */
async function run(parser: () => Promise<Parsed>, { source }: ParseInput): Promise<Parsed> {
  try {
    return await parser();
  } catch (error) {
    if (error instanceof RangeError) {
      throw damaged(`${source} is nested too deep, or too long, to be read`, error);
    }
    throw error;
  }
}

function finish(parsed: Parsed, { format, source }: { format: Format; source: string }): Parsed {
  const { markdown, title, language, meta, metadata, pages, dropped, attachments } = parsed;
  if (markdown.length > limits.parse.textCharactersMax) {
    throw beyond('text', `${source} has ${markdown.length} characters of text`);
  }
  const text = tidy(markdown);
  if (!/[\p{L}\p{N}]/u.test(text)) throw withoutText(`${source} is ${format.name} without text`);
  return {
    title: titleOf(title) ?? titleOf(firstHeading(text)),
    language,
    markdown: text,
    meta: { ...meta, ...pageMeta(pages, text) },
    ...(metadata && { metadata }),
    ...(dropped && { dropped }),
    ...(attachments && { attachments }),
  };
}

/** The page starts, if the pages still make up the text after cleaning. */
function pageMeta(pages: Parsed['pages'], text: string): Parsed['meta'] {
  if (!pages) return {};
  const tidied = pages.map((page) => ({ page: page.page, text: tidy(page.text) }));
  return joinPages(tidied) === text ? { page_starts: pageStartsOf(tidied) } : {};
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
const controls = /[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u2060\ufeff\ufffe\uffff]/g;

function tidy(text: string): string {
  return text
    .replace(/\r\n?|[\v\f]/g, '\n')
    .replaceAll('\0', '\ufffd')
    .replace(controls, '')
    .toWellFormed()
    .normalize('NFC')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/^\n+/, '')
    .trimEnd();
}

function titleOf(title: string | null): string | null {
  const tidied = tidy(title ?? '')
    .replace(/\s+/g, ' ')
    .trim();
  return tidied.slice(0, limits.job.titleCharactersMax).toWellFormed() || null;
}

function firstHeading(text: string): string | null {
  return /^#{1,6}\s+(.+)$/m.exec(text)?.[1] ?? null;
}
