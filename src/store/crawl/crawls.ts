/**
 * The frontier of a crawl. A page becomes an item of the job in the transaction in which it is
 * found, so the frontier is the job itself: its open items. This table stores only the addresses
 * found, so that each becomes one item, and their distance from the start.
 */
import { readMetadata } from '../../kernel/metadata/metadata.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { write } from '../driver/query.ts';
import { sql, sqlRows } from '../driver/statement.ts';
import { getJobById } from '../job/jobs.ts';
import { growJob } from '../job/moves.ts';
import { addItems } from '../job/submit.ts';

export interface Crawl {
  /** The domain that the crawl stays within. */
  readonly site: string;
  readonly depthMax: number;
  readonly pagesMax: number;
  /** Globs for addresses; an empty list means all. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

export interface FoundPage {
  /** In its canonical form. */
  readonly url: string;
  readonly gate: string;
  readonly depth: number;
}

interface CrawlRow {
  readonly job_id: number;
  readonly site: string;
  readonly depth_max: number;
  readonly pages_max: number;
  readonly include: string;
  readonly exclude: string;
  readonly pages_found: number;
  readonly metadata: string | null;
}

const putCrawl = sql`
  INSERT INTO crawls (job_id, site, depth_max, pages_max, include, exclude, pages_found,
    metadata)
  VALUES (:job_id, :site, :depth_max, :pages_max, :include, :exclude, :pages_found, :metadata)`;
const ofItem = sql<CrawlRow & { depth: number }>`
  SELECT crawls.*, crawl_pages.depth FROM crawls
  JOIN crawl_pages ON crawl_pages.job_id = crawls.job_id AND crawl_pages.url = :url
  WHERE crawls.job_id = :job_id`;
const lockCrawl = sql<CrawlRow>`SELECT * FROM crawls WHERE job_id = :job_id {forUpdate}`;
const countPages = sql`
  UPDATE crawls SET pages_found = pages_found + :count WHERE job_id = :job_id`;
const putPage = sqlRows({ job_id: 'int', url: 'text', depth: 'int' })<{ url: string }>`
  INSERT INTO crawl_pages (job_id, url, depth)
  SELECT :job_id, :url, :depth {rows} WHERE TRUE
  ON CONFLICT (job_id, url) DO NOTHING RETURNING url`;

interface NewCrawl {
  readonly crawl: Crawl;
  readonly urls: readonly string[];
  /** Of every page, as JSON. */
  readonly metadata: string | null;
}

/** Starts a crawl whose first pages are already items of the job. */
export async function insertCrawl(
  transaction: Transaction,
  jobId: number,
  { crawl, urls, metadata }: NewCrawl,
): Promise<void> {
  await transaction.run(putCrawl, {
    job_id: jobId,
    site: crawl.site,
    depth_max: crawl.depthMax,
    pages_max: crawl.pagesMax,
    include: JSON.stringify(crawl.include),
    exclude: JSON.stringify(crawl.exclude),
    pages_found: urls.length,
    metadata,
  });
  await transaction.each(
    putPage,
    urls.map((url) => ({ job_id: jobId, url, depth: 0 })),
  );
}

/**
 * The crawl that found this page, and its distance from the start. Undefined: not part of a crawl.
 */
export async function crawlOf(
  reader: Reader,
  { jobId, url }: { readonly jobId: number; readonly url: string },
): Promise<(Crawl & { readonly depth: number }) | undefined> {
  const [row] = await reader.run(ofItem, { job_id: jobId, url });
  if (!row) return undefined;
  return {
    site: row.site,
    depth: row.depth,
    depthMax: row.depth_max,
    pagesMax: row.pages_max,
    include: JSON.parse(row.include),
    exclude: JSON.parse(row.exclude),
  };
}

/** The start address redirected to another domain: the crawl stays within that one. */
export const moveSite = write<{ jobId: number; site: string }>`
  UPDATE crawls SET site = :site WHERE job_id = :jobId`;

/** Records an address that has no item: the target of a redirect. */
export async function markKnown(
  transaction: Transaction,
  { jobId, url, depth }: { readonly jobId: number; readonly url: string; readonly depth: number },
): Promise<void> {
  await transaction.each(putPage, [{ job_id: jobId, url, depth }]);
}

/** Creates items for the pages that are new to the crawl, up to its limit. Returns how many. */
export async function addPages(
  transaction: Transaction,
  { jobId, pages, now }: { jobId: number; pages: readonly FoundPage[]; now: number },
): Promise<number> {
  if (pages.length === 0) return 0;
  const [crawl] = await transaction.run(lockCrawl, { job_id: jobId });
  const job = await getJobById(transaction, jobId);
  if (!crawl || !job) return 0;
  const added = await insertNew(transaction, { jobId, pages, crawl });
  if (added.length === 0) return 0;
  const metadata = readMetadata(crawl.metadata);
  await addItems(
    transaction,
    { ...job, force: job.force === 1, now },
    added.map(({ url, gate }) => ({ kind: 'url', source: url, gate, metadata })),
  );
  await transaction.run(countPages, { job_id: jobId, count: added.length });
  await growJob(transaction, { id: jobId, count: added.length, now });
  return added.length;
}

/** Inserts as many as fit, and repeats with the next ones while some of them were known. */
async function insertNew(
  transaction: Transaction,
  { jobId, pages, crawl }: { jobId: number; pages: readonly FoundPage[]; crawl: CrawlRow },
): Promise<FoundPage[]> {
  const byUrl = new Map(pages.map((page) => [page.url, page]));
  const candidates = [...byUrl.values()];
  const added: FoundPage[] = [];
  for (let start = 0; start < candidates.length; ) {
    const room = crawl.pages_max - crawl.pages_found - added.length;
    if (room <= 0) break;
    const tried = candidates.slice(start, start + room);
    const rows = tried.map(({ url, depth }) => ({ job_id: jobId, url, depth }));
    const inserted = new Set((await transaction.each(putPage, rows)).map(({ url }) => url));
    added.push(...tried.filter(({ url }) => inserted.has(url)));
    start += tried.length;
  }
  return added;
}
