/**
 * The document pipeline with metered servers for vectors and entities, in the process that kills
 * the workers. They record every call, with whether one of its texts was answered and stored
 * before; and every step takes a random few milliseconds.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '../../src/kernel/failure/failure.ts';
import { vectorKey } from '../../src/pipeline/embed/embed-texts.ts';
import { answerKey } from '../../src/pipeline/entity/ask-model.ts';
import type { Pipeline, StepFunction } from '../../src/pipeline/pipeline.ts';
import type { Database } from '../../src/store/driver/database.ts';
import { sql } from '../../src/store/driver/statement.ts';
import {
  type CompletionCall,
  type CompletionServer,
  startCompletionServer,
  withContent,
} from '../support/completion-server.ts';
import { type OpenaiServer, startOpenaiServer } from '../support/openai-server.ts';
import type { Chance } from './chance.ts';
import { type DiaryLine, isPaidStep, type PaidCall, type PaidStep } from './paid-twice.ts';
import type { Appender } from './submission-log.ts';
import { sourceIn, sourceNamed } from './workload.ts';

interface Asked {
  readonly key: string;
  readonly text: string;
}

const dimensions = 16;
const model = `metered@${dimensions}`;
const extractorModel = 'metered-entities';
const answerMsMax = 8;

export interface MeteredServer {
  readonly url: string;
  readonly completionsUrl: string;
  readonly calls: readonly PaidCall[];
  /** Texts that were answered again, because the first response was lost with its process. */
  askedAgain(): number;
  close(): Promise<void>;
}

/** A response is stored with the event that charges it, at the same moment. */
const keptAnswers = sql<{ key: string; seq: number }>`
  SELECT results.key, MAX(events.seq) AS seq FROM results
  JOIN events ON events.kind = 'work_paid' AND events.at = results.created_at
  WHERE results.key {amongKeys} GROUP BY results.key`;

export async function startMeteredServer(database: Database): Promise<MeteredServer> {
  const server: OpenaiServer = await startOpenaiServer();
  const calls: PaidCall[] = [];
  const note = async (step: PaidStep, asked: readonly Asked[], from?: string): Promise<void> => {
    const at = Date.now();
    const keys = JSON.stringify(asked.map(({ key }) => key));
    const seqs = new Map(
      (await database.run(keptAnswers, { keys })).map((row) => [row.key, row.seq]),
    );
    const kept = asked.flatMap(({ key, text }) => {
      const seq = seqs.get(key);
      return seq === undefined ? [] : [{ source: sourceIn(text), seq }];
    });
    const pid = Number(/pid-(\d+)/.exec(from ?? '')?.[1]);
    calls.push({ pid, at, step, texts: asked.length, kept });
    await pause(calls.length % answerMsMax);
  };
  server.script = async ({ texts, authorization }) => {
    const asked = texts.map((text) => ({ key: vectorKey(model, text), text }));
    await note('embedded', asked, authorization);
    return undefined;
  };
  const requests: string[] = [];
  const completions = await startAnswering(async (asked, authorization) => {
    await note('entity_extracted', [asked], authorization);
    requests.push(asked.key);
  });
  const repeated = (all: readonly string[]): number => all.length - new Set(all).size;
  return {
    url: server.url,
    completionsUrl: completions.url,
    calls,
    askedAgain: () => repeated(server.answered) + repeated(requests),
    close: async () => {
      await Promise.all([server.close(), completions.close()]);
    },
  };
}

const ada = { name: 'Ada Lovelace', kind: 'person', mentions: ['Ada Lovelace'] };

/** Records every request by the key of its response, and always gives the same response. */
function startAnswering(
  note: (asked: Asked, authorization: string | undefined) => Promise<void>,
): Promise<CompletionServer> {
  const answer = withContent(JSON.stringify({ entities: [ada] }));
  return startCompletionServer((call, response) => {
    void note(askedIn(call), call.authorization).then(
      () => answer(call, response),
      () => response.destroy(),
    );
  });
}

function askedIn({ body }: CompletionCall): Asked {
  const [instruction = '', input = ''] = body.messages.map(({ content }) => content);
  const { name: schemaName, schema } = body.response_format.json_schema;
  const key = answerKey(extractorModel, { instruction, input, schemaName, schema });
  return { key, text: input };
}

/** The provider as configured for a worker. Its key identifies the worker. */
export function meteredProvider(url: string) {
  const key = `pid-${process.pid}`;
  return { choice: `openai:${model}`, url, key, centsPerMillionTokens: 1_000_000 };
}

export function meteredExtractor(url: string) {
  return {
    model: extractorModel,
    url,
    key: `pid-${process.pid}`,
    prices: { input: 1_000_000, output: 1_000_000 },
    // A worker that waits for its rate limit tests nothing.
    budget: { requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000 },
  };
}

export interface MeterOptions {
  readonly chance: Chance;
  readonly stepMsMax: number;
  /** How likely a call fails before it is made, so that items wait for a retry. */
  readonly failureRate: number;
  /** How likely a step fails after it has paid: the paid response must be found again. */
  readonly lossRate: number;
  readonly diary: Appender<DiaryLine>;
}

export function metered(options: MeterOptions): (documents: Pipeline) => Pipeline {
  return (documents) => {
    const steps = Object.entries(documents.steps);
    return {
      ...documents,
      steps: Object.fromEntries(
        steps.map(([step, run]) => [
          step,
          slowed(isPaidStep(step) ? failing(noted(run, step, options), options) : run, options),
        ]),
      ),
    };
  };
}

function failing(run: StepFunction, { chance, failureRate, lossRate }: MeterOptions): StepFunction {
  return async (context) => {
    if (chance.hits(failureRate)) throw new Failure('network_error', 'failed on purpose');
    const result = await run(context);
    if (!chance.hits(lossRate)) return result;
    const message = 'failed on purpose after it was paid';
    throw new Failure('rate_limited', message, { retryAfterMs: 1 });
  };
}

const lastSeq = sql<{ value: number }>`SELECT value FROM sequence WHERE name = 'events'`;

/** Records what was committed when the step began: it must find responses stored by then. */
function noted(run: StepFunction, step: PaidStep, { diary }: MeterOptions): StepFunction {
  return async (context) => {
    const { item, reader } = context;
    const [row] = await reader.run(lastSeq);
    const line = { pid: process.pid, itemId: item.id, step, source: sourceNamed(item.source) };
    diary.append({ ...line, kind: 'begun', at: Date.now(), seq: row?.value ?? 0 });
    try {
      return await run(context);
    } finally {
      diary.append({ ...line, kind: 'ended', at: Date.now() });
    }
  };
}

function slowed(run: StepFunction, { chance, stepMsMax }: MeterOptions): StepFunction {
  return async (context) => {
    await pause(chance.next() * stepMsMax);
    const result = await run(context);
    await pause(chance.next() * stepMsMax);
    return result;
  };
}
