/** The wire form of a visit between a step and the scraper. */

import { Failure } from '../kernel/failure/failure.ts';
import { keepValid } from '../kernel/metadata/metadata.ts';
import { safeFileName } from '../kernel/name/attachment.ts';
import type { Attachment, Parsed } from '../pipeline/extract/parsed.ts';
import type { VisiblePage } from '../pipeline/fetch/browser/visible-page.ts';
import type { Validators } from '../pipeline/fetch/http/http.ts';
import type { LearnedRobots } from '../pipeline/fetch/robots/robots-check.ts';
import type { FetchResponse, Redirect } from '../pipeline/fetch/verdict.ts';
import type { RobotsRow } from '../store/crawl/robots.ts';
import type { Json, Reply } from './request.ts';
import { Shape } from './shape.ts';

export interface VisitRequest {
  readonly source: string;
  readonly validators?: Validators | undefined;
  /** The known rules of its site. */
  readonly robots?: RobotsRow | undefined;
  readonly areRecordingsTaken: boolean;
  /** Whether the text is wanted with the page. */
  readonly isParsed: boolean;
}

export function visitRequest(request: VisitRequest): Json {
  return { ...request };
}

export function readVisitRequest(request: Json): VisitRequest {
  const shape = new Shape(request, 'visit');
  const validators = shape.part('validators');
  const robots = shape.part('robots');
  return {
    source: shape.text('source'),
    validators: validators && {
      url: validators.text('url'),
      etag: validators.textOrNull('etag'),
      lastModified: validators.textOrNull('lastModified'),
    },
    robots: robots && readRobotsRow(robots),
    areRecordingsTaken: shape.flag('areRecordingsTaken'),
    isParsed: shape.flag('isParsed'),
  };
}

function readRobotsRow(shape: Shape): RobotsRow {
  return {
    origin: shape.text('origin'),
    status: shape.number('status'),
    body: shape.text('body'),
    fetched_at: shape.number('fetched_at'),
  };
}

/** Headers that are still needed after the body was read. */
const headersKept = ['content-type', 'etag', 'last-modified', 'x-robots-tag', 'retry-after'];

export function answerWire({
  url,
  status,
  headers,
  wireBytes,
  isCut,
  redirects,
}: FetchResponse): Json {
  const kept = headersKept.flatMap((name) => {
    const value = headers.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  return { url: url.href, status, headers: kept, wireBytes, isCut, redirects };
}

export function readAnswer(shape: Shape, bytes: Uint8Array): FetchResponse {
  return {
    url: new URL(shape.text('url')),
    status: shape.number('status'),
    headers: new Map(shape.list('headers') as [string, string][]),
    bytes,
    wireBytes: shape.number('wireBytes'),
    isCut: shape.flag('isCut'),
    redirects: shape.list('redirects') as Redirect[],
  };
}

export function shownWire({ content, isRendered, detail }: VisiblePage): Json {
  const { mediaType, charset } = content;
  return { mediaType, charset: charset ?? null, isRendered, detail };
}

export function readShown(shape: Shape, answer: FetchResponse): VisiblePage {
  return {
    answer,
    content: {
      mediaType: shape.text('mediaType'),
      charset: shape.textOrNull('charset') ?? undefined,
      bytes: answer.bytes,
    },
    isRendered: shape.flag('isRendered'),
    detail: shape.part('detail')?.raw ?? {},
  };
}

export function robotsWire({ fresh, decision, crawlDelayMs, sitemaps }: LearnedRobots): Json {
  return { fresh, decision: decision ?? null, crawlDelayMs: crawlDelayMs ?? null, sitemaps };
}

export function readRobots(shape: Shape): LearnedRobots {
  return {
    fresh: shape.list('fresh').map((row) => readRobotsRow(new Shape(row, 'robots'))),
    decision: shape.textOrNull('decision') ?? undefined,
    crawlDelayMs: shape.raw.crawlDelayMs === null ? undefined : shape.number('crawlDelayMs'),
    sitemaps: shape.texts('sitemaps'),
  };
}

/** The text as a value, and the files of a mail concatenated as bytes. */
export function parsedWire({ attachments, ...parsed }: Parsed): Reply {
  if (!attachments) return { value: { ...parsed } };
  const files = attachments.map(({ name, bytes }) => ({ name, size: bytes.length }));
  const bytes = Buffer.concat(attachments.map((file) => file.bytes));
  return { value: { ...parsed, attachments: files }, ...(bytes.length > 0 && { bytes }) };
}

export function readParsed(shape: Shape, bytes: Uint8Array = new Uint8Array()): Parsed {
  const hasFiles = Array.isArray(shape.raw.attachments);
  const metadata = shape.part('metadata');
  return {
    title: shape.textOrNull('title'),
    language: shape.textOrNull('language'),
    markdown: shape.text('markdown'),
    meta: (shape.part('meta')?.raw ?? {}) as Parsed['meta'],
    ...(metadata && { metadata: keepValid(metadata.raw) }),
    ...(hasFiles && { attachments: readFiles(shape.list('attachments'), bytes) }),
  };
}

function readFiles(files: readonly unknown[], bytes: Uint8Array): Attachment[] {
  let start = 0;
  return files.map((file) => {
    const shape = new Shape(file, 'attachment');
    const end = start + shape.number('size');
    if (end < start || end > bytes.length) {
      throw new Failure('step_output_invalid', 'the files of a mail came back incomplete');
    }
    const own = bytes.subarray(start, end);
    start = end;
    return { name: safeFileName(shape.text('name')), bytes: own };
  });
}
