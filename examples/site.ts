/** Crawls a site: `node site.ts https://example.org/docs/ "a question"`. */
import { open } from 'pawl';

const [url = 'https://example.org/', query = 'install', ...allowHosts] = process.argv.slice(2);
const pawl = await open({ data: 'store', allowHosts });
const job = await pawl.ingest([url], { corpus: 'site', crawl: { depth: 2, limit: 50 } });
const { itemsDone } = await job.wait();
console.log(`${itemsDone} pages`);
for (const { title, sourceUrl } of await pawl.search('site', query, { topK: 3 })) {
  console.log(`${title} (${sourceUrl})`);
}
await pawl.close();
