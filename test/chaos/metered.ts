/**
 * The document pipeline with real providers at its end: metered servers of vectors and of entities,
 * in the process that kills the workers. They write down every call, with whether one of its texts
 * had been answered before and the answer kept; and every step takes a random few milliseconds.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '../../src/kernel/failure.ts';
import { vectorKey } from '../../src/pipeline/embed/embed-texts.ts';
import { answerKey } from '../../src/pipeline/entity/ask-model.ts';
import type { Pipeline, StepFunction } from '../../src/pipeline/pipeline.ts';
import type { Database } from '../../src/store/database.ts';
import { sql } from '../../src/store/statement.ts';
import {
  type CompletionCall,
  type CompletionServer,
  startCompletionServer,
  withContent,
} from '../support/completion-server.ts';
import { type OpenaiServer, startOpenaiServer } from '../support/openai-server.ts';
import type { Chance } from './chance.ts';

const dimensions = 16;
const model = `metered@${dimensions}`;
const extractorModel = 'metered-entities';
const answerMsMax = 8;
/** Between a look and the call that follows it, another process may keep the answer. */
const lookMs = 500;

export interface PaidCall {
  readonly pid: number;
  readonly at: number;
  readonly texts: number;
  /** An answer was in the store well before the call came: money for nothing. */
  readonly wasKept: boolean;
}

export interface MeteredServer {
  readonly url: string;
  readonly completionsUrl: string;
  readonly calls: readonly PaidCall[];
  /** Texts that were answered again, because the first answer was lost with its process. */
  askedAgain(): number;
  close(): Promise<void>;
}

const keptBefore = sql<{ key: string }>`
  SELECT key FROM results WHERE key {amongKeys} AND created_at < :before LIMIT 1`;

export async function startMeteredServer(database: Database): Promise<MeteredServer> {
  const server: OpenaiServer = await startOpenaiServer();
  const calls: PaidCall[] = [];
  const note = async (keys: readonly string[], authorization?: string): Promise<void> => {
    const at = Date.now();
    const asked = { keys: JSON.stringify(keys), before: at - lookMs };
    const kept = await database.run(keptBefore, asked);
    const pid = Number(/pid-(\d+)/.exec(authorization ?? '')?.[1]);
    calls.push({ pid, at, texts: keys.length, wasKept: kept.length > 0 });
    await pause(calls.length % answerMsMax);
  };
  server.script = async ({ texts, authorization }) => {
    const keys = texts.map((text) => vectorKey(model, text));
    await note(keys, authorization);
    return undefined;
  };
  const questions: string[] = [];
  const completions = await startAnswering(async (key, authorization) => {
    await note([key], authorization);
    questions.push(key);
  });
  const repeated = (all: readonly string[]): number => all.length - new Set(all).size;
  return {
    url: server.url,
    completionsUrl: completions.url,
    calls,
    askedAgain: () => repeated(server.answered) + repeated(questions),
    close: async () => {
      await Promise.all([server.close(), completions.close()]);
    },
  };
}

const ada = { name: 'Ada Lovelace', kind: 'person', mentions: ['Ada Lovelace'] };

/** Every question is noted by the key of its answer, and answered alike. */
function startAnswering(
  note: (key: string, authorization: string | undefined) => Promise<void>,
): Promise<CompletionServer> {
  const answer = withContent(JSON.stringify({ entities: [ada] }));
  return startCompletionServer((call, response) => {
    void note(keyOfCall(call), call.authorization).then(
      () => answer(call, response),
      () => response.destroy(),
    );
  });
}

function keyOfCall({ body }: CompletionCall): string {
  const [instruction = '', input = ''] = body.messages.map(({ content }) => content);
  const { name: schemaName, schema } = body.response_format.json_schema;
  return answerKey(extractorModel, { instruction, input, schemaName, schema });
}

/** The provider as a worker is told of it. Its key says who it is. */
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
    // A worker that waits for its minute to pass tests nothing.
    budget: { requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000 },
  };
}

export interface MeterOptions {
  readonly chance: Chance;
  readonly stepMsMax: number;
  /** How likely a call fails before it is made, so that items wait for a retry. */
  readonly failureRate: number;
  /** How likely a step fails when it has paid: what it paid for must be found again. */
  readonly lossRate: number;
}

const paidSteps: readonly string[] = ['embedded', 'entity_extracted'];

export function metered(options: MeterOptions): (documents: Pipeline) => Pipeline {
  return (documents) => {
    const steps = Object.entries(documents.steps);
    return {
      ...documents,
      steps: Object.fromEntries(
        steps.map(([step, run]) => [
          step,
          slowed(paidSteps.includes(step) ? failing(run, options) : run, options),
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
    // Long enough that an answer which is not found again counts as paid twice.
    const message = 'failed on purpose after it was paid';
    throw new Failure('rate_limited', message, { retryAfterMs: 2 * lookMs });
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
