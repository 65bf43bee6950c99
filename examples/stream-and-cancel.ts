/** Follows a job by its events, and cancels it in the middle. */
import { open } from 'pawl';

const pawl = await open({ data: 'store', workers: 1 });
const pages = Array.from({ length: 200 }, (_, n) => ({ id: `${n}`, text: `Page ${n}.` }));
const job = await pawl.ingest(pages, { corpus: 'pages' });
for await (const { kind, step } of job.events()) {
  if (kind !== 'step_completed' || step !== 'done') continue;
  console.log('one page is done: enough');
  await job.cancel();
  break;
}
console.log((await job.wait()).state);
await pawl.close();
