/**
 * One visit to a page: checks robots.txt, reads the page, and renders it in a browser if needed.
 * Nothing is stored here, so the visit may be made by this process or by a scraper elsewhere.
 */
import { Failure, toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { unsupported } from '../extract/format/unsupported.ts';
import { type Rendering, type VisiblePage, visiblePage } from './browser/visible-page.ts';
import { type Content, readContent } from './http/content.ts';
import type { Fetcher, Validators } from './http/http.ts';
import { isReadable, isRecording } from './http/media-type.ts';
import type { RobotsCheck } from './robots/robots-check.ts';
import { readUrl } from './url.ts';
import { type FetchResponse, failureOf } from './verdict.ts';

export interface VisitRequest {
  readonly source: string;
  readonly validators?: Validators | undefined;
  readonly robots: RobotsCheck;
  readonly areRecordingsTaken?: boolean | undefined;
  readonly now: number;
  readonly signal: AbortSignal;
}

/** The outcome of a visit. Without a page and without a failure, nothing has changed. */
export type Visit =
  | { readonly answer: FetchResponse; readonly shown?: VisiblePage; readonly failure?: undefined }
  | {
      readonly answer: FetchResponse | undefined;
      readonly shown?: undefined;
      readonly failure: Failure;
    };

export type Visitor = (request: VisitRequest) => Promise<Visit>;

export const accept =
  'text/html, application/xhtml+xml, text/markdown, application/pdf, text/plain, */*;q=0.8';

export const bounds = {
  wireBytesMax: limits.fetch.wireBytesMax,
  bytesMax: limits.document.sourceBytesMax,
  beyond: 'fail',
} as const;

export interface VisitTools {
  readonly fetcher: Fetcher;
  readonly rendering?: Rendering | undefined;
}

export function visitor({ fetcher, rendering }: VisitTools): Visitor {
  return async ({ source, validators, robots, areRecordingsTaken, now, signal }) => {
    let answer: FetchResponse | undefined;
    try {
      answer = await fetcher.get({
        url: readUrl(source),
        accept,
        signal,
        bounds,
        validators,
        redirectsMax: limits.fetch.redirectsMax,
        beforeHop: (url) => robots.admit(url),
      });
      const failure = failureOf(answer, now);
      if (failure) return { answer, failure };
      if (answer.status === 304) return { answer };
      const content = await contentOf({ source }, answer, areRecordingsTaken);
      const shown = await visiblePage({ answer, content, rendering, robots, signal });
      return { answer: shown.answer, shown };
    } catch (error) {
      if (signal.aborted) throw error;
      return { answer, failure: toFailure(error) };
    }
  };
}

async function contentOf(
  { source }: { readonly source: string },
  { bytes, headers, url }: FetchResponse,
  areRecordingsTaken = false,
): Promise<Content> {
  if (bytes.length === 0) throw new Failure('empty_source', `${url.host} answered with no content`);
  const content = await readContent(bytes, headers.get('content-type'));
  if (content && isReadable(content.mediaType)) return content;
  if (content && isRecording(content.mediaType) && areRecordingsTaken) return content;
  throw unsupported(source, content?.mediaType);
}
