/** A step of your own: each document gets a summary before it can be searched. */
import { open } from 'pawl';

const summaries = new Map<string, string>();
const summarize = async ({ source, text }: { source: string; text: string }) => {
  const [summary = ''] = text.split(/(?<=\.)\s/);
  return { detail: { summary }, effect: async () => void summaries.set(source, summary) };
};
const step = { add: 'summarized', bit: 16, version: '1', timeoutMs: 10_000, run: summarize };
const pawl = await open({ data: 'store', steps: [step] });
const letter = { id: 'letter', text: 'The cat is back. It sleeps.' };
await (await pawl.ingest([letter], { corpus: 'letters' })).wait();
console.log(Object.fromEntries(summaries));
await pawl.close();
