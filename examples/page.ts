/** The client in a page: `page.html` imports this. A bundler, such as Vite, builds both. */
import { Client } from 'pawl/client';

const marks: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string) => text.replace(/[&<>"]/g, (mark) => marks[mark] ?? '');

export async function searchPage(url: string, corpus: string, query: string): Promise<string> {
  if (query.trim() === '') return '';
  const client = new Client({ url });
  const body = { corpus_name: corpus, query, top_k: 5 };
  const { results } = await client.ask('POST /search', { body });
  const items = results.map(({ title, text }) => `<b>${escaped(title ?? '')}</b> ${escaped(text)}`);
  return items.map((item) => `<li>${item}</li>`).join('');
}
