/**
 * Speed of chunking into 256 tokens, next to LangChain's recursive splitter with the same
 * tokenizer, on the same documents of 20 kB, in turns: the same real text repeatedly, new real
 * text, and made-up words that never repeat.
 */
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { clearMergeCache, countTokens } from 'gpt-tokenizer/encoding/cl100k_base';
import { splitText } from '../src/pipeline/chunk/split.ts';
import { readCollections } from './collection.ts';
import { madeDocuments, madeKinds } from './made-words.ts';
import type { Figure, Section } from './measure/figure.ts';
import { installPeers } from './peers/install.ts';

const tokensMax = 256;
const overlapTokens = 32;
const documentCharacters = 20_000;
const unit = 'MB/s';
const peer = '@langchain/textsplitters';
const target = { atLeast: 3 };
const countText = (text: string) => countTokens(text, { disallowedSpecial: new Set() });

type Split = (text: string) => Promise<readonly string[]>;

interface Subject {
  readonly name: string;
  readonly split: Split;
  /** Megabytes per second of CPU time: in the first round, in the last, and the best of all. */
  first: number;
  last: number;
  best: number;
  largest: number;
  chunks: number;
}

export interface ChunkingOptions {
  readonly data: string;
  readonly isQuick: boolean;
  readonly tell: (line: string) => void;
}

export async function benchChunking({ data, isQuick, tell }: ChunkingOptions): Promise<Section> {
  const { unseen, documents } = readDocuments(data, isQuick ? 1 : 3);
  const subjects = [
    subject('pawl', async (text) => splitText(text).map((chunk) => chunk.text)),
    ...(await langchain(tell)),
  ];
  for (let round = 0; round < (isQuick ? 2 : 5); round++) {
    for (const one of subjects) {
      tell(`chunking, round ${round + 1}: ${one.name}`);
      // In the first round all have read only other text, and no cache is shared.
      if (round === 0) {
        clearMergeCache();
        for (const text of unseen) await one.split(text);
      }
      await time(one, documents);
    }
  }
  const [own, other] = subjects;
  const figures: Figure[] = subjects.flatMap(({ name, first, best, largest, chunks }) => [
    { name: `${name}, ${chunks} chunks up to ${largest} tokens`, value: best, digits: 2, unit },
    { name: `${name}, words not seen before`, value: first, digits: 2, unit },
  ]);
  if (own && other) {
    figures.push(
      { name: 'ratio', value: own.best / other.best, digits: 1, unit: '×', target },
      {
        name: 'ratio, words not seen',
        value: own.first / other.first,
        digits: 1,
        unit: '×',
        target,
      },
    );
    for (const kind of madeKinds) {
      tell(`chunking: ${kind}`);
      figures.push(await ratioOf([own, other], kind, isQuick ? 5 : 40));
    }
  }
  figures.push({
    name: 'tokens of the largest chunk',
    value: own?.largest ?? 0,
    digits: 0,
    target: { atMost: tokensMax },
  });
  const note =
    'Megabytes per second of processor time, the best of the rounds; chunks of 256 tokens, 32 of ' +
    'them repeated, counted by the same tokenizer.';
  return { title: 'Chunking', note, figures };
}

function subject(name: string, split: Split): Subject {
  return { name, split, first: 0, last: 0, best: 0, largest: 0, chunks: 0 };
}

function readDocuments(data: string, megabytes: number) {
  const all = readCollections(data)
    .flatMap(({ documents }) => documents.map(({ text }) => text))
    .join('\n\n')
    .slice(0, megabytes * 2e6);
  const documents: string[] = [];
  for (let start = 0; start < all.length; start += documentCharacters) {
    documents.push(all.slice(start, start + documentCharacters));
  }
  const half = documents.length >> 1;
  return { unseen: documents.slice(half), documents: documents.slice(0, half) };
}

async function time(one: Subject, documents: readonly string[]): Promise<void> {
  const before = process.threadCpuUsage();
  const chunks: string[] = [];
  for (const text of documents) chunks.push(...(await one.split(text)));
  const { user, system } = process.threadCpuUsage(before);
  const characters = documents.reduce((sum, { length }) => sum + length, 0);
  const speed = characters / (user + system);
  if (one.first === 0) one.first = speed;
  one.last = speed;
  one.best = Math.max(one.best, speed);
  one.chunks = chunks.length;
  if (one.largest === 0) one.largest = Math.max(...chunks.map(countText));
}

/** Each has processed such text before, but none of these words. */
async function ratioOf(
  subjects: readonly Subject[],
  kind: (typeof madeKinds)[number],
  count: number,
): Promise<Figure> {
  const made = madeDocuments(kind, documentCharacters);
  const take = () => Array.from({ length: count }, () => made.next().value);
  const [warming, documents] = [take(), take()];
  const speeds: number[] = [];
  for (const { name, split } of subjects) {
    clearMergeCache();
    const fresh = subject(name, split);
    await time(fresh, warming);
    await time(fresh, documents);
    speeds.push(fresh.last);
  }
  const [own = 0, other = 0] = speeds;
  const name = `ratio, ${kind} (${own.toFixed(2)} and ${other.toFixed(2)} ${unit})`;
  return { name, value: own / other, digits: 1, unit: '×', target };
}

async function langchain(tell: (line: string) => void): Promise<Subject[]> {
  const reason = installPeers().get(peer);
  if (reason !== undefined) {
    tell(`LangChain is not compared: ${reason}`);
    return [];
  }
  const folder = fileURLToPath(new URL('./peers/package.json', import.meta.url));
  const path = pathToFileURL(createRequire(folder).resolve(peer)).href;
  const { RecursiveCharacterTextSplitter } = await import(path);
  const splitter = new RecursiveCharacterTextSplitter({
    chunkSize: tokensMax,
    chunkOverlap: overlapTokens,
    lengthFunction: countText,
  });
  return [subject('LangChain, recursive', (text) => splitter.splitText(text))];
}
