/**
 * Turns a caller's inputs into the sources of a job: paths, folders and globs become files, one
 * source each, and inline documents get a name. Nothing is submitted here, so a refusal leaves no
 * trace.
 */
import { hash } from 'node:crypto';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { checkMetadata, type Metadata } from '../kernel/metadata/metadata.ts';
import { countWildcards } from '../pipeline/crawl/glob.ts';
import { canonicalUrl, gateOf, readUrl } from '../pipeline/fetch/url.ts';
import type { Crawl } from '../store/crawl/crawls.ts';
import type { NewSource } from '../store/job/submit.ts';
import { type FileOptions, filesOf, statSource, tooMany } from './files.ts';
import { withSidecars } from './sidecar.ts';

/** A document with inline content: exactly one of `text`, `markdown` and `html`. */
export interface InlineDocument {
  /** Identifies the document across submissions; its content does if absent. */
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  readonly text?: string | undefined;
  readonly markdown?: string | undefined;
  readonly html?: string | undefined;
  /** Where people find the document; it is not fetched. */
  readonly sourceUrl?: string | undefined;
  /** Stored with the document, returned with its passages, and usable in filters. */
  readonly metadata?: Metadata | undefined;
}

/** A file, a folder, a glob, a URL, or an inline document. */
export type SourceInput = string | InlineDocument;

export async function expandSources(
  inputs: readonly SourceInput[],
  options: FileOptions = {},
): Promise<NewSource[]> {
  const sources = new Map<string, NewSource>();
  for (const input of inputs) {
    for await (const source of expand(input, options)) {
      sources.set(source.source, source);
      if (sources.size > limits.job.itemsMax) throw tooMany();
    }
  }
  if (sources.size > 0) return withSidecars([...sources.values()]);
  const named = inputs.map((input) => JSON.stringify(input)).join(', ');
  const message = inputs.length === 0 ? 'no source was named' : `there is no file in ${named}`;
  throw new Failure('sources_empty', message);
}

export function isUrl(input: string): boolean {
  return /^https?:/i.test(input);
}

async function* expand(input: SourceInput, options: FileOptions): AsyncGenerator<NewSource> {
  if (typeof input !== 'string') {
    yield inlineSource(input);
  } else if (isUrl(input)) {
    yield urlSource(input);
  } else {
    for await (const source of filesOf(input, options)) yield { kind: 'file', source };
  }
}

/** A checked URL in canonical form. */
export function urlSource(input: string): NewSource {
  const url = readUrl(input);
  const source = canonicalUrl(url);
  if (source.length > limits.job.sourceUrlCharactersMax) {
    const bound = limits.job.sourceUrlCharactersMax;
    const message = `an address has ${source.length} of ${bound} characters`;
    throw new Failure('invalid_url', message);
  }
  return { kind: 'url', source, gate: gateOf(url) };
}

/** The limits of a crawl. */
export interface CrawlInput {
  /** Maximum number of links from the start page. */
  readonly depth?: number | undefined;
  /** Maximum number of pages. */
  readonly limit?: number | undefined;
  /** Globs. A glob with a leading slash matches the path, any other the whole URL. */
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
}

/** A crawl stays within one site, that of its start page. */
export function crawlFrom(sources: readonly NewSource[], input: CrawlInput): Crawl {
  const [root, ...others] = sources;
  if (root?.kind !== 'url' || root.gate === undefined || others.length > 0) {
    throw new Failure('bad_request', 'a crawl begins at one address');
  }
  const { crawlDepthMax, crawlDepthDefault, crawlPagesMax, crawlPagesDefault } = limits.job;
  const { depth = crawlDepthDefault, limit = crawlPagesDefault } = input;
  const { include = [], exclude = [] } = input;
  checkBound('depth', depth, { min: 0, max: crawlDepthMax });
  checkBound('limit', limit, { min: 1, max: crawlPagesMax });
  checkBound('number of globs', include.length + exclude.length, {
    min: 0,
    max: limits.job.crawlPatternsMax,
  });
  for (const glob of [...include, ...exclude]) checkGlob(glob);
  return { site: root.gate, depthMax: depth, pagesMax: limit, include, exclude };
}

function checkGlob(glob: string): void {
  const { crawlPatternCharactersMax, crawlWildcardsMax } = limits.job;
  const shown = JSON.stringify(glob.slice(0, 60));
  if (glob.length > crawlPatternCharactersMax) {
    const message = `the glob ${shown} has more than ${crawlPatternCharactersMax} characters`;
    throw new Failure('bad_request', message);
  }
  const wildcards = countWildcards(glob);
  if (wildcards <= crawlWildcardsMax) return;
  const message = `the glob ${shown} has ${wildcards} wildcards; use ${crawlWildcardsMax} at most`;
  throw new Failure('bad_request', message);
}

function checkBound(name: string, value: number, { min, max }: { min: number; max: number }): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new Failure(
    'bad_request',
    `the ${name} of a crawl is a whole number from ${min} to ${max}`,
  );
}

export function inlineSource(document: InlineDocument): NewSource {
  const bodies = (['text', 'markdown', 'html'] as const).flatMap((kind) =>
    document[kind] === undefined ? [] : [{ kind, body: document[kind] }],
  );
  const [input, ...others] = bodies;
  if (input === undefined || others.length > 0) {
    throw new Failure('bad_request', 'an inline document has one of text, markdown and html');
  }
  refuseNul('an inline document', [document.id, document.title, document.sourceUrl, input.body]);
  const bytes = Buffer.byteLength(input.body);
  if (bytes > limits.job.inlineTextBytesMax) {
    const message = `an inline document has ${bytes} of ${limits.job.inlineTextBytesMax} bytes`;
    throw new Failure('payload_too_large', message);
  }
  const title = document.title?.slice(0, limits.job.titleCharactersMax) ?? null;
  const { metadata } = document;
  return {
    kind: 'inline',
    source: nameOf(document, input.body),
    input: { ...input, title },
    ...(metadata !== undefined && { metadata: checkMetadata(metadata) }),
  };
}

/** No store can keep this character, and a search for it would differ between stores. */
function refuseNul(what: string, texts: readonly (string | undefined)[]): void {
  if (!texts.some((text) => text?.includes('\0'))) return;
  throw new Failure('bad_request', `${what} has a NUL character (U+0000): remove it`);
}

/** The identity of an inline document across submissions. */
function nameOf({ id, title, sourceUrl }: InlineDocument, body: string): string {
  if (sourceUrl === undefined) return `inline:${id ?? contentName(title ?? null, body)}`;
  const url = canonicalUrl(readUrl(sourceUrl));
  return id === undefined ? url : `${url}#${encodeURIComponent(id)}`;
}

function contentName(title: string | null, body: string): string {
  return hash('sha256', `${title ?? ''}\0${body}`).slice(0, 16);
}

/** Whether a file was written, or moved to this path, after this time. */
export async function isChangedSince(
  sources: readonly NewSource[],
  since: number,
): Promise<boolean> {
  for (const { kind, source } of sources) {
    if (kind !== 'file') continue;
    const found = await statSource(source);
    if (!found || Math.max(found.mtimeMs, found.ctimeMs) > since) return true;
  }
  return false;
}
