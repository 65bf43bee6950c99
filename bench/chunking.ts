/**
 * How fast text is cut into chunks of 256 tokens, beside LangChain's recursive splitter with the
 * same tokenizer, on the same documents of 20 kB.
 *
 *   npm install --prefix /tmp/langchain --ignore-scripts @langchain/textsplitters @langchain/core
 *   node bench/chunking.ts --data ../shared/data/ir --langchain /tmp/langchain
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { clearMergeCache } from 'gpt-tokenizer/encoding/cl100k_base';
import { splitText } from '../src/pipeline/chunk/split.ts';
import { countText } from '../src/pipeline/chunk/unit.ts';
import { readCollections } from './collection.ts';

const tokensMax = 256;
const overlapTokens = 32;
const documentCharacters = 20_000;

interface Splitter {
  splitText(text: string): Promise<string[]>;
}

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/data/ir' },
    langchain: { type: 'string' },
    megabytes: { type: 'string', default: '2' },
  },
});

const all = readCollections(values.data)
  .flatMap(({ documents }) => documents.map(({ text }) => text))
  .join('\n\n')
  .slice(0, Number(values.megabytes) * 1e6);
const documents: string[] = [];
for (let start = 0; start < all.length; start += documentCharacters) {
  documents.push(all.slice(start, start + documentCharacters));
}

const own = await measure('pawl', async (text) => splitText(text).map((chunk) => chunk.text));
const splitter = await loadLangchain(values.langchain);
if (splitter) {
  const theirs = await measure('langchain recursive', (text) => splitter.splitText(text));
  console.log(`ratio: ${(own / theirs).toFixed(1)}`);
}

/** Megabytes per second of processor time, after a warm-up. */
async function measure(name: string, split: (text: string) => Promise<string[]>): Promise<number> {
  for (const text of documents.slice(0, 20)) await split(text);
  // What one has learnt about words must not help the next.
  clearMergeCache();
  const before = process.cpuUsage();
  const startedAt = performance.now();
  const chunks: string[] = [];
  for (const text of documents) chunks.push(...(await split(text)));
  const wallMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(before);
  const speed = all.length / (user + system);
  const largest = Math.max(...chunks.map(countText));
  const wallSpeed = all.length / wallMs / 1000;
  console.log(
    `${name}: ${speed.toFixed(2)} MB/s of processor time, ${wallSpeed.toFixed(2)} MB/s of wall ` +
      `time, ${chunks.length} chunks, the largest ${largest} tokens`,
  );
  return speed;
}

async function loadLangchain(folder: string | undefined): Promise<Splitter | undefined> {
  if (folder === undefined) {
    console.log('LangChain is not compared: name the folder it is installed in with --langchain');
    return undefined;
  }
  const resolve = createRequire(join(folder, 'package.json')).resolve;
  const path = pathToFileURL(resolve('@langchain/textsplitters')).href;
  const { RecursiveCharacterTextSplitter } = await import(path);
  return new RecursiveCharacterTextSplitter({
    chunkSize: tokensMax,
    chunkOverlap: overlapTokens,
    lengthFunction: countText,
  });
}
