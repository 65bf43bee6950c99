/** Answers a question from a corpus, by any server with OpenAI's chat interface. */
import { open } from 'pawl';

const [folder = 'docs', question = 'How long do refunds take?'] = process.argv.slice(2);
const { CHAT_URL = 'http://127.0.0.1:11434/v1', CHAT_MODEL = 'llama3.2', CHAT_KEY } = process.env;
const pawl = await open({ data: 'store' });
await (await pawl.ingest([folder], { corpus: 'docs' })).wait();
const hits = await pawl.search('docs', question, { topK: 5 });
const passages = hits.map(({ text, title }, n) => `[${n + 1}] ${title}: ${text}`).join('\n\n');
const content = `Answer from these passages only, and cite them:\n\n${passages}\n\n${question}`;
const body = JSON.stringify({ model: CHAT_MODEL, messages: [{ role: 'user', content }] });
const headers = { 'content-type': 'application/json', authorization: `Bearer ${CHAT_KEY}` };
const answer = await fetch(`${CHAT_URL}/chat/completions`, { method: 'POST', headers, body });
const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] };
console.log(choices[0]?.message.content);
await pawl.close();
