/**
 * `fetched` for a URL: checks robots.txt, reads the page and stores its bytes. With any outcome,
 * what was learned is written in the same commit: robots.txt, the rate limit, the version of the
 * page.
 */
import type { BlobStore } from '../../blob/blob.ts';
import { Failure, isAntiBot, toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { redact } from '../../kernel/text/redact.ts';
import { nextTurn, type World } from '../../kernel/world.ts';
import type { NewEvent } from '../../observe/event.ts';
import { isCheapLane } from '../../store/batch/lines.ts';
import { checkChunking } from '../../store/corpus/rechunking.ts';
import { crawlOf } from '../../store/crawl/crawls.ts';
import { writeFetch } from '../../store/crawl/fetches.ts';
import { getRobots, writeRobots } from '../../store/crawl/robots.ts';
import { confirm } from '../../store/document/documents.ts';
import { confirmMetadata } from '../../store/document/metadata.ts';
import {
  currentValidators,
  type ValidatorsRow,
  writeValidators,
} from '../../store/document/validators.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { getGateLimits, heldUntil, holdGate, setGateLimits } from '../../store/item/gates.ts';
import { type Discovery, discover } from '../crawl/discover.ts';
import type { LinkFinder } from '../crawl/page-links.ts';
import type { PipelineItem, StepContext, StepResult } from '../pipeline.ts';
import type { Rendering, VisiblePage } from './browser/visible-page.ts';
import type { Fetcher } from './http/http.ts';
import { type Paces, paceAfter } from './robots/politeness.ts';
import { RobotsCheck } from './robots/robots-check.ts';
import { storeContent } from './store-content.ts';
import type { FetchResponse, Redirect } from './verdict.ts';
import { type Visitor, visitor } from './visit.ts';

export interface UrlReader {
  readonly blobs: BlobStore;
  readonly fetcher: Fetcher;
  /** Finds the links of a crawl; this thread does if absent. */
  readonly finder?: LinkFinder | undefined;
  /** If absent, page scripts are not run. */
  readonly rendering?: Rendering | undefined;
  /** Makes the visit; this process does if absent. */
  readonly visitor?: Visitor | undefined;
  /** Rate limits of single domains. */
  readonly paces?: Paces | undefined;
  /** Whether a transcription provider is configured. */
  readonly hasTranscribers?: boolean | undefined;
}

type Known = Awaited<ReturnType<typeof currentValidators>>;

export async function fetchUrl(context: StepContext, reader: UrlReader): Promise<StepResult> {
  const { item, world, signal } = context;
  const { fetcher, paces } = reader;
  const now = world.now();
  await checkHeld(context, now);
  const robots = new RobotsCheck({
    fetcher,
    signal,
    now,
    stored: (origin) => getRobots(context.reader, origin),
  });
  const visit = { item, robots, paces };
  let answer: FetchResponse | undefined;
  try {
    const crawl = await crawlOf(context.reader, { jobId: item.jobId, url: item.source });
    const known = await validatorsFor(context, crawl);
    const came = await (reader.visitor ?? visitor(reader))({
      source: item.source,
      validators: known && { ...known, lastModified: known.last_modified },
      areRecordingsTaken: await takesRecordings(context, reader),
      robots,
      now,
      signal,
    });
    ({ answer } = came);
    if (came.failure) throw came.failure;
    const { shown } = came;
    if (!shown) {
      return withVisit(confirmed(item, came.answer, known), { ...visit, answer });
    }
    const result = await taken(context, shown, reader.blobs);
    const page = { item, url: shown.answer.url, robots, fetcher, finder: reader.finder };
    const discovery =
      crawl &&
      (await discover({ ...page, html: await htmlOf(shown, world), crawl, world, signal }));
    return withVisit(result, { ...visit, answer: shown.answer, discovery });
  } catch (error) {
    if (signal.aborted) throw error;
    return withVisit({ failure: toFailure(error) }, { ...visit, answer });
  }
}

/** The site may have sent an anti-bot signal after this page passed its gate. */
async function checkHeld({ item: { gate }, reader }: StepContext, now: number): Promise<void> {
  const until = gate === null ? 0 : await heldUntil(reader, gate);
  if (until <= now) return;
  const message = `nothing of ${gate} is read for another ${until - now} ms`;
  throw new Failure('domain_held', message, { retryAfterMs: until - now });
}

/** A crawl needs the page itself, for its links, even if it has not changed. */
async function validatorsFor({ item, reader }: StepContext, crawl: unknown): Promise<Known> {
  return item.force || crawl ? undefined : currentValidators(reader, item.documentId);
}

/** Transcription takes hours, and only the batch lane waits that long. */
export async function takesRecordings(
  { item, reader }: StepContext,
  { hasTranscribers = false }: Pick<UrlReader, 'hasTranscribers'>,
): Promise<boolean> {
  return hasTranscribers && (await isCheapLane(reader, item.jobId));
}

/** The page as text, if its links may be followed. */
async function htmlOf({ answer, content }: VisiblePage, world: World): Promise<string | undefined> {
  const { mediaType, bytes } = content;
  const isFollowed = !/\b(?:nofollow|none)\b/i.test(answer.headers.get('x-robots-tag') ?? '');
  if (mediaType !== 'text/html' || !isFollowed) return undefined;
  // It was hashed just now. A large page takes long for both.
  await nextTurn(world);
  return new TextDecoder().decode(bytes);
}

/** New content: its bytes are stored before the commit refers to them. */
async function taken(
  { item, scratch }: StepContext,
  { answer, content, isRendered, detail }: VisiblePage,
  blobs: BlobStore,
): Promise<StepResult> {
  const { mediaType, bytes, charset } = content;
  const at = await storeContent(content, blobs);
  // Text has been converted to UTF-8.
  const stored = charset === undefined ? null : 'utf-8';
  scratch.set('source', { bytes, mediaType, charset: stored });
  return {
    detail: { media_type: mediaType, ...(charset && { charset }), ...detail },
    effect: async (transaction, now) => {
      await writeFetch(transaction, { ...at, generation_id: item.id, charset: stored });
      // The version of a shell says nothing about the content that its scripts load.
      const known = isRendered ? { etag: null, last_modified: null } : {};
      await writeValidators(transaction, { ...validatorsOf(item, answer, now), ...known });
      return undefined;
    },
  };
}

/** The site says that nothing has changed since the indexed content. */
function confirmed(item: PipelineItem, answer: FetchResponse, known: Known): StepResult {
  if (!known) throw new Failure('bad_response', `${answer.url.host} answered 304 unasked`);
  return {
    unchanged: true,
    effect: async (transaction, now) => {
      const row = { id: item.documentId, content_hash: known.content_hash, as_of: item.id };
      const found = await confirm(transaction, row);
      if (!found) {
        throw new Failure(
          'replaced_meanwhile',
          `${item.source} was replaced while it was being asked for`,
        );
      }
      await checkChunking(transaction, { ...item, ...found }, now);
      const told = validatorsOf(item, answer, now);
      await writeValidators(transaction, {
        ...told,
        etag: told.etag ?? known.etag,
        last_modified: told.last_modified ?? known.last_modified,
      });
      return confirmMetadata(transaction, item);
    },
  };
}

function validatorsOf(
  item: PipelineItem,
  { url, headers }: FetchResponse,
  now: number,
): ValidatorsRow {
  return {
    document_id: item.documentId,
    as_of: item.id,
    url: url.href,
    etag: headers.get('etag') ?? null,
    last_modified: headers.get('last-modified') ?? null,
    fetched_at: now,
  };
}

interface Visit {
  readonly item: PipelineItem;
  readonly answer: FetchResponse | undefined;
  readonly robots: RobotsCheck;
  readonly paces: Paces | undefined;
  /** What a crawl has found on the page. */
  readonly discovery?: Discovery | undefined;
}

/** Adds what the visit has learned to the outcome. */
function withVisit(result: StepResult, visit: Visit): StepResult {
  const { item, robots } = visit;
  return {
    ...result,
    detail: { ...describeVisit(visit), ...result.detail },
    effect: async (transaction, now) => {
      const events = [...((await result.effect?.(transaction, now)) ?? [])];
      for (const row of robots.fresh) await writeRobots(transaction, row);
      events.push(...((await visit.discovery?.(transaction, now)) ?? []));
      if (item.gate !== null) {
        events.push(...(await setPace(transaction, item.gate, { ...visit, result, now })));
      }
      return events;
    },
  };
}

function describeVisit({ answer, robots }: Visit): Record<string, unknown> {
  return {
    ...(robots.decision !== undefined && { robots: robots.decision }),
    ...(answer && {
      status: answer.status,
      final_url: redact(answer.url.href),
      bytes: answer.bytes.length,
      wire_bytes: answer.wireBytes,
      ...(answer.redirects.length > 0 && { redirects: answer.redirects.map(toldRedirect) }),
    }),
  };
}

function toldRedirect({ from, to, ...rest }: Redirect): Redirect {
  return { ...rest, from: redact(from), to: redact(to) };
}

/** The response of a domain sets the rate limit for its next pages. */
async function setPace(
  transaction: Transaction,
  gate: string,
  {
    item,
    result,
    robots,
    paces,
    now,
  }: Visit & { readonly result: StepResult; readonly now: number },
): Promise<NewEvent[]> {
  const { failure } = result;
  const current = await getGateLimits(transaction, gate);
  const { crawlDelayMs } = robots;
  const pace = paceAfter({ current, failure, crawlDelayMs, normal: paces?.[gate] });
  const restMs = restAfter(failure, pace?.intervalMs ?? current.intervalMs);
  // First the pause, then the limits: the latter let the next items through.
  if (restMs > 0) await holdGate(transaction, { name: gate, until: now + restMs });
  if (!pace) return [];
  await setGateLimits(transaction, { ...pace, name: gate }, now);
  const { concurrency, intervalMs, reason } = pace;
  const detail = { domain: gate, concurrency, interval_ms: intervalMs, reason };
  return [{ kind: 'domain_paced', jobId: item.jobId, itemId: item.id, detail }];
}

/**
 * A wait that the site demands of one request applies to all. After an anti-bot signal the domain
 * is paused for the new delay, starting with its very next page.
 */
function restAfter(failure: Failure | undefined, intervalMs: number): number {
  if (!failure) return 0;
  const { retryAfterMsDefault, retryAfterMsMax } = limits.wait;
  const unasked = isAntiBot(failure.code)
    ? intervalMs
    : failure.code === 'http_429'
      ? retryAfterMsDefault
      : 0;
  const asked = Math.min(failure.retryAfterMs ?? unasked, retryAfterMsMax);
  return asked > 0 ? Math.max(asked, intervalMs) : 0;
}
