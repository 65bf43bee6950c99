/**
 * How fast a site is crawled: once as fast as it goes, and once at a given pace, of which the time
 * must be next to nothing but the pace.
 *
 *   npm run bench -- crawl [--pages N] [--distance MS]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { open } from '../src/index.ts';

export interface CrawlBench {
  readonly pages: number;
  readonly distanceMs: number;
  readonly tell: (line: string) => void;
}

interface Pace {
  readonly concurrency: number;
  readonly intervalMs: number;
}

interface Measured {
  readonly pace: Pace;
  readonly seconds: number;
  readonly pages: number;
  /** Resident memory of the crawling process after a tenth of the pages, and at the end. */
  readonly startMib: number;
  readonly endMib: number;
}

const concurrency = 32;

/** Prints the table, and returns whether the rate limit was the bottleneck. */
export async function benchCrawl({ pages, distanceMs, tell }: CrawlBench): Promise<number> {
  const free = await measure(pages, { concurrency, intervalMs: 0 }, tell);
  const paced = await measure(pages, { concurrency, intervalMs: distanceMs }, tell);
  console.log(`# A crawl of ${pages} pages of a local site\n`);
  console.log(
    '| pages at once | ms apart | pages | seconds | pages/s | of the pace | MiB early | end |',
  );
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- |');
  for (const measured of [free, paced]) console.log(rowOf(measured));
  const isWhole = [free, paced].every((measured) => measured.pages === pages);
  return isWhole && shareOf(paced) >= 0.9 ? 0 : 1;
}

function rowOf(measured: Measured): string {
  const { pace, seconds, pages, startMib, endMib } = measured;
  const share = pace.intervalMs > 0 ? shareOf(measured).toFixed(2) : '';
  const rate = (pages / seconds).toFixed(0);
  const cells = [pace.concurrency, pace.intervalMs, pages, seconds.toFixed(1), rate, share];
  return `| ${[...cells, startMib.toFixed(0), endMib.toFixed(0)].join(' | ')} |`;
}

/** The time that the delay alone takes, as a share of the total. */
function shareOf({ pace, seconds, pages }: Measured): number {
  return ((pages - 1) * pace.intervalMs) / 1000 / seconds;
}

async function measure(pages: number, pace: Pace, tell: CrawlBench['tell']): Promise<Measured> {
  const site = fileURLToPath(new URL('./crawl-site.ts', import.meta.url));
  const child = spawn(process.execPath, [site, String(pages)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const data = mkdtempSync(join(tmpdir(), 'pawl-crawl-'));
  try {
    const [port] = await once(child.stdout.setEncoding('utf8'), 'data');
    return await crawl(`127.0.0.1:${Number(port)}`, { data, pages, pace, tell });
  } finally {
    child.kill();
    rmSync(data, { recursive: true, force: true, maxRetries: 3 });
  }
}

interface CrawlInput {
  readonly data: string;
  readonly pages: number;
  readonly pace: Pace;
  readonly tell: CrawlBench['tell'];
}

async function crawl(host: string, { data, pages, pace, tell }: CrawlInput): Promise<Measured> {
  const pawl = await open({ data, allowHosts: [host], pace: { '127.0.0.1': pace } });
  const startedAt = performance.now();
  const job = await pawl.ingest([`http://${host}/`], {
    corpus: 'bench',
    crawl: { depth: 20, limit: pages },
  });
  const mib = (): number => process.memoryUsage().rss / 2 ** 20;
  let done = 0;
  let startMib = 0;
  for await (const { kind, step } of job.events()) {
    if (kind !== 'step_completed' || step !== 'done') continue;
    done += 1;
    if (done === Math.ceil(pages / 10)) startMib = mib();
    if (done % 1000 === 0) {
      const seconds = (performance.now() - startedAt) / 1000;
      tell(`${done} pages in ${seconds.toFixed(1)} s, ${mib().toFixed(0)} MiB`);
    }
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const endMib = mib();
  const { itemsDone } = await job.summary();
  await pawl.close();
  return { pace, seconds, pages: itemsDone, startMib, endMib };
}
