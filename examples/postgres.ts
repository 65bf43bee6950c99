/** One store for several processes: `DATABASE_URL=postgres://… node postgres.ts` (needs `pg`). */
import { open } from 'pawl';

const worker = await open({ database: process.env.DATABASE_URL });
const submitter = await open({ database: process.env.DATABASE_URL, work: false });
const notes = [{ id: 'tides', text: '# Tides\n\nThe moon moves the sea.' }];
const job = await submitter.ingest(notes, { corpus: 'notes' });
console.log((await job.wait()).state);
console.log((await submitter.search('notes', 'moon'))[0]?.heading);
await submitter.close();
await worker.close();
