/** The same pages through Pawl as it ships, from submission to the last document found. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { open } from '../../src/index.ts';
import { answer } from '../measure/child.ts';
import { type Reading, rate } from '../measure/reading.ts';
import { measured } from '../measure/usage.ts';

interface Request {
  readonly pages: string;
  readonly directory: string;
  readonly places: number;
}

await answer<Request>(async ({ pages, directory, places }): Promise<Reading[]> => {
  const count = readdirSync(pages).length;
  const onError = (what: string, error: unknown): never => {
    console.error(what, error);
    process.exit(1);
  };
  const pawl = await open({ data: join(directory, 'pawl'), workers: places, onError });
  const usage = await measured(async () => {
    const job = await pawl.ingest([pages], { corpus: 'bench' });
    const { items } = await job.wait();
    if (items.done !== count) throw new Error(`${items.done} of ${count} pages are done`);
  }, undefined);
  return [rate('durable', count, usage, `${places} places`)];
});
