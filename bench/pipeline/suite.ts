/**
 * What durability costs: the same pages through Pawl and through the same functions without it, in
 * turns, so that whatever else the machine does touches both alike.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask } from '../measure/child.ts';
import { median, type Reading } from '../measure/reading.ts';
import { writePages } from './pages.ts';

export interface PipelineOptions {
  readonly runs: number;
  readonly isQuick: boolean;
  readonly tell: (line: string) => void;
}

export interface PipelineFigure {
  readonly title: string;
  readonly value: number;
  readonly target?: string;
  readonly isMet?: boolean;
  readonly note?: string | undefined;
}

const loads = {
  quick: { pages: 200, documents: 3_000 },
  full: { pages: 2_000, documents: 100_000 },
} as const;

const places = 16;
const seed = 7;
const articleWords = 800;
const shareMin = 0.9;
/** How much more memory than after the first thousand documents still counts as flat. */
const growthMax = 1.5;

export async function runPipelineSuite(options: PipelineOptions): Promise<PipelineFigure[]> {
  const { pages, documents } = loads[options.isQuick ? 'quick' : 'full'];
  const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'));
  try {
    const from = join(folder, 'pages');
    writePages({ directory: from, count: pages, words: articleWords, seed });
    const readings: Reading[] = [];
    const take = async (script: string, request: object): Promise<void> => {
      const directory = mkdtempSync(join(folder, 'store-'));
      const taken = await readingsOf(script, { ...request, directory });
      rmSync(directory, { recursive: true });
      for (const { measure, value } of taken) options.tell(`${measure}: ${value.toFixed(2)}`);
      readings.push(...taken);
    };
    for (let round = 0; round < options.runs; round++) {
      await take('plain', { pages: from, places });
      await take('durable', { pages: from, places });
    }
    await take('memory', { documents });
    return figuresOf(readings);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function readingsOf(script: string, request: object): Promise<readonly Reading[]> {
  const answer = await ask(new URL(`./${script}.ts`, import.meta.url), request);
  if ('failure' in answer) throw new Error(`${script} ${answer.failure}`);
  return answer.readings;
}

function figuresOf(readings: readonly Reading[]): PipelineFigure[] {
  const of = (key: string): number => {
    const own = readings.filter(({ measure }) => measure === key);
    return median(own.map(({ value }) => value)) ?? Number.NaN;
  };
  const share = of('durable') / of('plain');
  const growth = of('memory-growth');
  return [
    { title: 'Pages per second without durability', value: of('plain') },
    { title: 'Pages per second through Pawl', value: of('durable') },
    {
      title: 'Share that durability leaves',
      value: share,
      target: `≥ ${shareMin}`,
      isMet: share >= shareMin,
    },
    { title: 'Memory after the first thousand documents, MiB', value: of('memory-early') },
    {
      title: 'Memory at the end, MiB',
      value: of('memory-late'),
      note: readings.find(({ measure }) => measure === 'memory-late')?.note,
    },
    {
      title: 'Memory at the end against the beginning, times',
      value: growth,
      target: `≤ ${growthMax}`,
      isMet: growth <= growthMax,
    },
  ];
}
