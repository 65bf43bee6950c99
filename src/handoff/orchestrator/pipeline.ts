/**
 * The document pipeline, computed by services: the same steps as in one process, each with tools
 * that send requests for its own item. The requests of a step are removed in its commit.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { boundPipeline, type DocumentPipelineOptions } from '../../pipeline/document.ts';
import type { Extractor } from '../../pipeline/entity/extraction.ts';
import type { Pipeline, StepContext, StepResult } from '../../pipeline/pipeline.ts';
import type { Completer } from '../../provider/completion/completion.ts';
import { getOrigin } from '../../store/corpus/origins.ts';
import { removeHandoffsOfStep } from '../../store/handoff/handoffs.ts';
import { getJobById } from '../../store/job/jobs.ts';
import type { HandoffBroker } from './broker.ts';
import {
  type Ask,
  type IsHere,
  recordedEmbedder,
  remoteCompleter,
  remoteEmbedder,
  remoteExtractor,
  remoteFetcher,
  remoteParser,
  remoteVisitor,
} from './remote.ts';
import { workplacesOf } from './step-service.ts';

export interface HandoffPipelineOptions {
  readonly broker: HandoffBroker;
  /** The tools of this process: their traits also describe the remote ones. */
  readonly tools: DocumentPipelineOptions;
  /** What is parsed here: plain text, and content that came with a job. */
  readonly isHere: IsHere;
  /** Makes the extractor that asks a model, from its completer; absent: rules. */
  readonly modelExtractor?: ((completer: (own: Completer) => Completer) => Extractor) | undefined;
}

export function handoffPipeline(options: HandoffPipelineOptions): Pipeline {
  const { broker, tools, isHere, modelExtractor } = options;
  const { embedder, otherEmbedder, parser } = tools;
  const pipeline = boundPipeline(tools, (context, step) => {
    const { scratch } = context;
    const ask = asking(broker, context, step);
    return {
      visitor: remoteVisitor(ask, scratch),
      fetcher: remoteFetcher(ask),
      parser: remoteParser(ask, { scratch, here: parser, isHere }),
      embedder: remoteEmbedder(ask, embedder),
      otherEmbedder: (model, url) => {
        const own = otherEmbedder?.(model, url) ?? (url && recordedEmbedder(model, url));
        return own ? remoteEmbedder(ask, own) : undefined;
      },
      extractor: modelExtractor
        ? modelExtractor((own) => remoteCompleter(ask, own))
        : rulesFor(context, remoteExtractor(ask)),
    };
  });
  const steps = Object.entries(pipeline.steps).map(([step, run]) => [
    step,
    async (context: StepContext) => withRemoval(await run(context), context, step),
  ]);
  // A worker limits its own work; here the step only waits.
  const timeoutMs = (): number => limits.handoff.softMs;
  const places = workplacesOf({ isHere, lane: tools.paidAnswers && tools.lane });
  return { ...pipeline, steps: Object.fromEntries(steps), timeoutMs, ...places };
}

/**
 * Rules do not replace a model: a corpus whose entities come from a model waits for a process that
 * is configured for it.
 */
function rulesFor({ item, reader }: StepContext, rules: Extractor): Extractor {
  const { caller, corpus } = item;
  return {
    ...rules,
    extract: async (input, context) => {
      const url = await getOrigin(reader, { caller, corpus, use: 'entities' });
      if (url === undefined) return rules.extract(input, context);
      const message =
        `the entities of ${corpus} come from a model at ${url}, and this orchestrator has ` +
        'none: set PAWL_EXTRACTOR and PAWL_EXTRACTOR_URL here as in the embedding service, or ' +
        `accept rules with \`pawl corpora origins ${corpus} --accept\``;
      const retryAfterMs = limits.handoff.parkedMs;
      throw new Failure('service_busy', message, { retryAfterMs });
    },
  };
}

function asking(broker: HandoffBroker, context: StepContext, step: string): Ask {
  return async (request, signal = context.signal) => {
    const { item, progress } = context;
    const jobKey = await jobKeyOf(context);
    context.scratch.set(askedBy(step), true);
    return broker.ask(request, { item, jobKey, step, signal, progress });
  };
}

const askedBy = (step: string): string => `requested by ${step}`;

async function jobKeyOf({ item, reader, scratch }: StepContext): Promise<string> {
  const known = scratch.get('job') as string | undefined;
  if (known !== undefined) return known;
  const job = await getJobById(reader, item.jobId);
  if (!job) throw new Failure('job_unknown', `the job of ${item.source} was deleted`);
  scratch.set('job', job.key);
  return job.key;
}

/** The responses have been used. After a failure they are kept: a worker may still be running. */
function withRemoval(
  result: StepResult | undefined,
  { item, scratch }: StepContext,
  step: string,
): StepResult | undefined {
  const isUsed = scratch.has(askedBy(step)) && !result?.failure && !result?.deferred;
  if (!isUsed) return result;
  return {
    ...result,
    effect: async (transaction, now) => {
      const events = await result?.effect?.(transaction, now);
      await removeHandoffsOfStep(transaction, { itemId: item.id, step });
      return events;
    },
  };
}
