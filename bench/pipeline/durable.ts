/**
 * The same pages through Pawl as shipped, from submission until the last document is searchable.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { open } from '../../src/index.ts';
import { answer } from '../measure/child.ts';
import { type Reading, rate } from '../measure/reading.ts';
import { measured } from '../measure/usage.ts';

interface Request {
  /** Pages to load and compile the code with. */
  readonly warmUp: string;
  readonly pages: string;
  readonly directory: string;
  readonly places: number;
}

await answer<Request>(async ({ warmUp, pages, directory, places }): Promise<Reading[]> => {
  const onError = (what: string, error: unknown): never => {
    console.error(what, error);
    process.exit(1);
  };
  const pawl = await open({ data: join(directory, 'pawl'), workers: places, onError });
  const ingest = async (folder: string): Promise<number> => {
    const count = readdirSync(folder).length;
    const job = await pawl.ingest([folder], { corpus: 'bench' });
    const { itemsDone } = await job.wait();
    if (itemsDone !== count) throw new Error(`${itemsDone} of ${count} pages are done`);
    return count;
  };
  await ingest(warmUp);
  let count = 0;
  const usage = await measured(async () => {
    count = await ingest(pages);
  }, undefined);
  return [rate('durable', count, usage, `${places} places`)];
});
