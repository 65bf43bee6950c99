/**
 * The document pipeline with remote workers. The step functions stay the same; for each run of a
 * step the context carries tools that send requests on behalf of that item. The responses are
 * removed in the commit of the step.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { CorpusEmbedders } from '../../pipeline/corpus-origin.ts';
import type { DocumentLane } from '../../pipeline/document.ts';
import type { Extractor } from '../../pipeline/entity/extraction.ts';
import type { Parser } from '../../pipeline/extract/parsed.ts';
import {
  mapSteps,
  type Pipeline,
  type StepContext,
  type StepResult,
  type StepTools,
} from '../../pipeline/pipeline.ts';
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
import { servicesOf } from './step-service.ts';

export interface HandoffPipelineOptions extends CorpusEmbedders {
  /** The pipeline of one process. It is built once, for all items. */
  readonly documents: Pipeline;
  readonly broker: HandoffBroker;
  /** Parses plain text, and documents that came with a job, in this process. */
  readonly parser: Parser;
  readonly isHere: IsHere;
  /** The steps of the batch lane ask no service. */
  readonly lane?: DocumentLane | undefined;
  /** Makes the extractor that asks a model from a remote completer; undefined means rules. */
  readonly modelExtractor?: ((completer: (own: Completer) => Completer) => Extractor) | undefined;
}

export function handoffPipeline(options: HandoffPipelineOptions): Pipeline {
  const { documents, isHere, lane } = options;
  const jobKeys: JobKeys = new Map();
  const steps = mapSteps(documents.steps, (run, step) => async (context) => {
    const tools = remoteTools(context, step, { ...options, jobKeys });
    return withRemoval(await run({ ...context, tools }), context, step);
  });
  // Workers bound their own work; here the step only waits.
  const timeoutMs = (): number => limits.handoff.softMs;
  const { serviceOf, expected } = servicesOf({ isHere, lane });
  return { ...documents, steps, timeoutMs, mayRunAhead: undefined, serviceOf, expected };
}

function remoteTools(
  context: StepContext,
  step: string,
  options: HandoffPipelineOptions & { readonly jobKeys: JobKeys },
): StepTools {
  const { broker, jobKeys, embedder, otherEmbedder, parser, isHere, modelExtractor } = options;
  const { scratch } = context;
  const ask = asking({ broker, jobKeys }, context, step);
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
}

/**
 * Rules must not replace a model: a corpus whose entities were found by a model waits for a process
 * that is configured for it.
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

interface Asking {
  readonly broker: HandoffBroker;
  readonly jobKeys: JobKeys;
}

function asking({ broker, jobKeys }: Asking, context: StepContext, step: string): Ask {
  return async (request, signal = context.signal) => {
    const { item, progress } = context;
    const jobKey = await jobKeyOf(context, jobKeys);
    context.scratch.set(askedBy(step), true);
    return broker.ask(request, { item, jobKey, step, signal, progress });
  };
}

const askedBy = (step: string): string => `requested by ${step}`;

/** Keys of jobs by their ids, newest last. They never change. */
type JobKeys = Map<number, string>;

async function jobKeyOf({ item, reader }: StepContext, known: JobKeys): Promise<string> {
  const found = known.get(item.jobId);
  if (found !== undefined) return found;
  const job = await getJobById(reader, item.jobId);
  if (!job) throw new Failure('job_unknown', `the job of ${item.source} was deleted`);
  const [oldest] = known.keys();
  if (oldest !== undefined && known.size >= limits.handoff.jobKeysMax) known.delete(oldest);
  known.set(item.jobId, job.key);
  return job.key;
}

/** Removes used responses. After a failure they stay: a worker may still be at work. */
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
