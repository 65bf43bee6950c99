/** The lower bound for everything durable: sequential writes of 8 KiB, each flushed. */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { answer } from '../measure/child.ts';
import { noiseOf, type Reading, rate, spread } from '../measure/reading.ts';
import { measured } from '../measure/usage.ts';
import type { Store } from './pawl.ts';

interface Request {
  readonly store: Store;
  readonly seconds: number;
}

const page = Buffer.alloc(8192, 1);
const pages = 8192;

await answer<Request>(measureDisk);

async function measureDisk({ store, seconds }: Request): Promise<Reading[]> {
  const file = openSync(join(store.directory, 'flushed'), 'w');
  // The file has its final size before, so that a flush writes only the page.
  writeSync(file, Buffer.alloc(page.length * pages));
  fdatasyncSync(file);
  const times: number[] = [];
  const usage = await measured(() => {
    const end = performance.now() + seconds * 1000;
    for (let now = performance.now(); now < end; ) {
      const startedAt = now;
      writeSync(file, page, 0, page.length, (times.length % pages) * page.length);
      fdatasyncSync(file);
      now = performance.now();
      times.push(now - startedAt);
    }
  }, undefined);
  closeSync(file);
  return [
    rate('raw-single', times.length, usage, '8 KiB each'),
    spread('raw-commit', times, noiseOf(usage)),
  ];
}
