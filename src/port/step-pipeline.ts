/** Builds the pipeline with the steps that a user has added, replaced and wrapped. */
import { Failure, toFailure } from '../kernel/failure/failure.ts';
import { defineLifecycle, type StepRow } from '../kernel/lifecycle/item.ts';
import type { Extractor } from '../pipeline/entity/extraction.ts';
import type { Parser } from '../pipeline/extract/parsed.ts';
import type { Pipeline, StepContext, StepFunction, Steps } from '../pipeline/pipeline.ts';
import { endWithoutText } from '../pipeline/pruned-text.ts';
import { textOf } from '../pipeline/step-memory.ts';
import type { TextRow } from '../store/document/documents.ts';
import { pluggedExtractor } from './entity-extractor.ts';
import { callPort } from './port-call.ts';
import type {
  AddedStep,
  ReadDocument,
  ReplacedEntities,
  ReplacedReading,
  StepCall,
  StepDocument,
  StepOutcome,
  StepPort,
  WrappedStep,
} from './step.ts';
import { firstReadStep } from './step-check.ts';

/** The parser is passed because replaced reading can fall back on it. */
export function withSteps(
  pipeline: Pipeline,
  steps: readonly StepPort[],
  parser: Parser,
): Pipeline {
  return steps.reduce((built, step) => withStep(built, step, parser), pipeline);
}

function withStep(pipeline: Pipeline, step: StepPort, parser: Parser): Pipeline {
  const name = nameOf(step);
  const run = versioned(functionOf(pipeline.steps, step, parser), step.version);
  const steps = {
    ...pipeline.steps,
    [name]: onlyForDocuments(name, { run, own: pipeline.steps[name] }),
  };
  const { timeoutMs: own } = step;
  return {
    ...pipeline,
    steps,
    ...(step.add !== undefined && {
      lifecycle: defineLifecycle(placed(pipeline.lifecycle.steps, step)),
    }),
    timeoutMs: (asked) => (asked === name && own !== undefined ? own : pipeline.timeoutMs(asked)),
  };
}

function nameOf(step: StepPort): string {
  if (step.add !== undefined) return step.add;
  return step.replace ?? step.wrap;
}

function functionOf(steps: Steps, step: StepPort, parser: Parser): StepFunction {
  if (step.add !== undefined) return addedFunction(step);
  const own = steps[nameOf(step)] as StepFunction;
  if (step.wrap !== undefined) return wrappedFunction(step, own);
  return step.replace === 'content_extracted'
    ? readingFunction(step, own, parser)
    : entityFunction(step, own);
}

/** The history shows which version a document has passed. */
function versioned(run: StepFunction, version: string): StepFunction {
  return async (context) => {
    const result = (await run(context)) ?? {};
    return { ...result, detail: { ...result.detail, version } };
  };
}

/**
 * Items that only re-embed a document have no part in the other steps, and a text that is split
 * again is not read again.
 */
function onlyForDocuments(
  step: string,
  { run, own }: { readonly run: StepFunction; readonly own: StepFunction | undefined },
): StepFunction {
  return async (context) => {
    const { sourceKind } = context.item;
    const isRead = sourceKind === 'rechunk' && (step === 'fetched' || step === firstReadStep);
    return sourceKind === 'reembed' || isRead ? own?.(context) : run(context);
  };
}

/** The table of steps with the added ones. */
export function placedSteps(
  rows: readonly StepRow[],
  steps: readonly StepPort[],
): readonly StepRow[] {
  return steps.reduce((all, step) => (step.add !== undefined ? placed(all, step) : all), rows);
}

/** The new row stands before the first step that waits for it. */
function placed(rows: readonly StepRow[], step: AddedStep): readonly StepRow[] {
  const { add, bit, after = [firstReadStep], before = ['persisted'] } = step;
  const placeOf = (name: string): number => {
    const place = rows.findIndex((row) => row.step === name);
    if (place >= 0) return place;
    const known = rows.map((row) => row.step).join(', ');
    throw new Failure('usage_error', `the step ${add} names ${name}: known are ${known}`);
  };
  const first = Math.min(...before.map(placeOf));
  for (const name of after) {
    if (placeOf(name) < first) continue;
    const message = `the step ${add} cannot be after ${name} and before ${rows[first]?.step}`;
    throw new Failure('usage_error', message);
  }
  if (!after.some((name) => isAfterReading(rows, name))) {
    const message = `the step ${add} must be after ${firstReadStep}: only then is there a text`;
    throw new Failure('usage_error', message);
  }
  const { stage } = rows[Math.max(...after.map(placeOf)) + 1] as StepRow;
  return [
    ...rows.slice(0, first),
    { step: add, bit, after, stage },
    ...rows.slice(first).map((row) => {
      return before.includes(row.step) ? { ...row, after: [...row.after, add] } : row;
    }),
  ];
}

function isAfterReading(rows: readonly StepRow[], name: string): boolean {
  if (name === firstReadStep) return true;
  const row = rows.find(({ step }) => step === name);
  return row?.after.some((each) => isAfterReading(rows, each)) ?? false;
}

function addedFunction(step: AddedStep): StepFunction {
  return async (context) => {
    const text = await textOf(context);
    if (!text) return endWithoutText(context);
    const document = readDocument(context, text);
    const { detail, effect, ...use } =
      (await called(step, context, (call) => step.run(document, call))) ?? {};
    return {
      ...usedBy(use),
      ...(detail && { detail }),
      effect: async () => {
        if (effect) await callPort(`effect of the step ${step.add}`, effect);
        return undefined;
      },
    };
  };
}

type Use = Omit<StepOutcome, 'detail' | 'effect'>;

function usedBy({ model, tokensIn, tokensOut, costCents }: Use) {
  return {
    ...(model !== undefined && { model }),
    ...(tokensIn !== undefined && { tokensIn }),
    ...(tokensOut !== undefined && { tokensOut }),
    ...(costCents !== undefined && { costCents }),
  };
}

function readingFunction(step: ReplacedReading, own: StepFunction, fallback: Parser): StepFunction {
  return (context) => {
    const before = context.tools?.parser ?? fallback;
    const parser: Parser = async (input, signal) => {
      const parse = () => before(input, signal);
      let parsed: Awaited<ReturnType<Parser>> | undefined;
      const source = { ...documentOf(context), bytes: input.bytes, mediaType: input.mediaType };
      const read = await called(step, { ...context, signal }, (call) =>
        step.run(source, {
          ...call,
          parse: async () => {
            parsed ??= await parse();
            const { markdown: text, title, language } = parsed;
            return { text, title, language };
          },
        }),
      );
      const { text, title = null, language = null } = read ?? {};
      if (typeof text !== 'string' || text.trim() === '') {
        const message = `the step ${step.replace} returned no text for ${context.item.source}`;
        throw new Failure('no_usable_content', message);
      }
      // Pages and losses describe the text of the parser: they hold only if it was not changed.
      const kept =
        parsed?.markdown === text
          ? parsed
          : { meta: {}, ...(parsed?.attachments && { attachments: parsed.attachments }) };
      return { ...kept, markdown: text, title, language };
    };
    return own({ ...context, tools: { ...context.tools, parser } });
  };
}

function entityFunction(step: ReplacedEntities, own: StepFunction): StepFunction {
  return async (context) => {
    const text = await textOf(context);
    if (!text) return endWithoutText(context);
    const extractor: Extractor = pluggedExtractor({
      name: `${step.replace}@${step.version}`,
      extract: () => called(step, context, (call) => step.run(readDocument(context, text), call)),
    });
    const tools = { ...context.tools, extractor };
    return own({ ...context, tools });
  };
}

function wrappedFunction(step: WrappedStep, own: StepFunction): StepFunction {
  return async (context) => {
    let result: { readonly of: Awaited<ReturnType<StepFunction>> } | undefined;
    const next = async (): Promise<void> => {
      if (result) throw new Failure('port_failed', `the wrapper of ${step.wrap} called next twice`);
      // A failure of the wrapped step keeps its code.
      const failed = (error: unknown): never => {
        throw toFailure(error);
      };
      result = { of: await own(context).catch(failed) };
    };
    await called(step, context, (call) => step.run(documentOf(context), call, next));
    if (result) return result.of;
    throw new Failure('port_failed', `the wrapper of ${step.wrap} did not call next`);
  };
}

function called<T>(
  step: StepPort,
  { signal, progress }: Pick<StepContext, 'signal' | 'progress'>,
  run: (call: StepCall) => Promise<T>,
): Promise<T> {
  return callPort(`the step ${nameOf(step)}`, () => run({ signal, progress }), signal);
}

function documentOf({ item }: StepContext): StepDocument {
  const { documentId: id, source, corpus, id: generation, attempt } = item;
  return { id, source, corpus, generation, attempt };
}

function readDocument(context: StepContext, { title, language, body }: TextRow): ReadDocument {
  return { ...documentOf(context), title, language, text: body };
}
