/** Ingests a folder with all its formats: `node folder.ts ./docs "a question"`. */
import { open } from 'pawl';

const [folder = 'docs', query = 'refund'] = process.argv.slice(2);
const pawl = await open({ data: 'store' });
const onSkipped = (path: string, reason: string) => console.error(`skipped ${path}: ${reason}`);
const job = await pawl.ingest([folder], { corpus: 'docs', onSkipped });
const { itemsDone, itemsFailed } = await job.wait();
console.log(`${itemsDone} documents, ${itemsFailed} failed`);
for (const { title, page, sourceUrl } of await pawl.search('docs', query, { topK: 3 })) {
  console.log(`${title}${page === null ? '' : `, page ${page}`} (${sourceUrl})`);
}
await pawl.close();
