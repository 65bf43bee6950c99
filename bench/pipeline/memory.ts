/** Memory while a corpus grows: after the first thousand documents, and after all of them. */
import { join } from 'node:path';
import { open, type Pawl } from '../../src/index.ts';
import { answer } from '../measure/child.ts';
import type { Reading } from '../measure/reading.ts';
import { chanceFrom, paragraphOf } from './pages.ts';

interface Request {
  readonly documents: number;
  readonly directory: string;
}

const perJob = 1_000;
const sampleMs = 100;
const mebibyte = 2 ** 20;

await answer<Request>(async ({ documents, directory }): Promise<Reading[]> => {
  const pawl = await open({ data: join(directory, 'pawl') });
  const chance = chanceFrom(documents);
  const peaks: number[] = [];
  for (let first = 0; first < documents; first += perJob) {
    peaks.push(await peakDuring(() => ingestSome(pawl, first, chance)));
  }
  const early = peaks[0] ?? Number.NaN;
  const late = Math.max(...peaks.slice(-3));
  return [
    { measure: 'memory-early', value: early / mebibyte },
    { measure: 'memory-late', value: late / mebibyte, note: `${documents} documents` },
    { measure: 'memory-growth', value: late / early },
  ];
});

async function ingestSome(pawl: Pawl, first: number, chance: () => number): Promise<void> {
  const inputs = Array.from({ length: perJob }, (_, index) => ({
    id: `document-${first + index}`,
    text: paragraphOf(chance),
  }));
  const job = await pawl.ingest(inputs, { corpus: 'bench' });
  const { itemsDone } = await job.wait();
  if (itemsDone !== perJob) throw new Error(`${itemsDone} of ${perJob} documents are done`);
}

/** Heap, buffers, the store's cache and Node itself; not the file cache of the system. */
async function peakDuring(work: () => Promise<void>): Promise<number> {
  let peak = 0;
  const look = (): void => {
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  const timer = setInterval(look, sampleMs);
  try {
    await work();
    look();
    return peak;
  } finally {
    clearInterval(timer);
  }
}
