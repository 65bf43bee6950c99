/** Ingests two notes and searches them. */
import { open } from 'pawl';

const pawl = await open({ data: 'store' });
const notes = [
  { id: 'tides', text: '# Tides\n\nThe moon moves the sea, twice a day.' },
  { id: 'bread', text: '# Bread\n\nFlour, water, salt and time.' },
];
const job = await pawl.ingest(notes, { corpus: 'notes' });
await job.wait();
const [best] = await pawl.search('notes', 'What moves the sea?');
console.log(`${best?.heading}: ${best?.text}`);
await pawl.close();
