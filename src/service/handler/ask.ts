/**
 * Questions that a model answers from passages. The events of an answer are the one source: a
 * request without a stream gets the last of them.
 */
import type { CallerContext } from '../../access/caller.ts';
import type { BodyOf } from '../../contract/contract.ts';
import type { Answer, AnswerEvent, AnswerSentence } from '../../contract/schema/answer.ts';
import { Failure, toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Answerer } from '../../search/answer/answerer.ts';
import { citedText, type Sentence } from '../../search/answer/sentences.ts';
import type { Handlers, Service, StoreAsk, StoreHandlers, StoreService } from '../service.ts';
import { ownCorpus } from './corpora.ts';
import { searchRoute } from './search.ts';

export type Question = BodyOf<'POST /ask'>;

export interface Asked {
  readonly caller: CallerContext;
  readonly body: Question;
  /** Ends the request to the model. */
  readonly signal: AbortSignal;
}

export type AnswerService = Pick<
  StoreService,
  'database' | 'corpora' | 'searcher' | 'metrics' | 'audit' | 'answerer'
>;

export function askRoute(service: AnswerService) {
  return {
    'POST /ask': async ({ caller, body }) =>
      wholeAnswer(answerEvents(service, { caller, body, signal: new AbortController().signal })),
  } satisfies Partial<StoreHandlers>;
}

/** Over HTTP, as a stream if requested. A client that leaves ends the request to the model. */
export function askStreamRoute(service: AnswerService & Pick<Service, 'world'>) {
  return {
    'POST /ask': async ({ caller, body, reply, request }) => {
      const leaving = new AbortController();
      const { raw } = reply;
      raw.once('close', () => leaving.abort());
      const events = answerEvents(service, { caller, body, signal: leaving.signal });
      if (body.stream !== true) return wholeAnswer(events);
      // A refusal needs its own status, so the first event is awaited before the headers are sent.
      const first = await events.next();
      reply.hijack();
      raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      try {
        if (!first.done) await send(raw, first.value);
        for await (const event of events) await send(raw, event);
      } catch (error) {
        if (!leaving.signal.aborted) {
          const { code, message: detail, advice } = toFailure(error);
          const data = { code, detail, advice, request_id: request.id };
          await send(raw, { event: 'problem', data });
        }
      } finally {
        raw.end();
      }
      return undefined;
    },
  } satisfies Partial<Handlers>;
}

type Raw = Parameters<Handlers['POST /ask']>[0]['reply']['raw'];

/** Waits for a slow reader. */
async function send(raw: Raw, { event, data }: { event: string; data: object }): Promise<void> {
  const text = `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
  if (raw.destroyed || raw.write(text)) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      raw.off('drain', end).off('close', end);
      resolve();
    };
    raw.once('drain', end).once('close', end);
  });
}

async function wholeAnswer(events: AsyncIterable<AnswerEvent>): Promise<Answer> {
  let answer: Answer | undefined;
  for await (const { event, data } of events) if (event === 'done') answer = data;
  if (answer) return answer;
  throw new Failure('internal_error', 'the answer has no end');
}

export async function* answerEvents(
  service: AnswerService,
  { caller, body, signal }: Asked,
): AsyncGenerator<AnswerEvent> {
  const answerer = configured(service.answerer);
  const { question, passages: size = limits.answer.passagesDefault, stream: _, ...same } = body;
  const search = { ...same, query: question, top_k: size };
  const asking = { ...nobody, caller, body: search } as StoreAsk<'POST /search'>;
  const { results, did_you_mean } = await searchRoute(service)['POST /search'](asking);
  const passages = results.map((hit, at) => ({ number: at + 1, ...hit }));
  const begun = { passages, did_you_mean };
  const [first] = results;
  if (!first) {
    yield { event: 'passages', data: { passages } };
    yield { event: 'done', data: { ...notInCorpus, ...begun } };
    return;
  }
  const names = [...new Set(results.map(({ corpus_name }) => corpus_name))];
  const corpora = await Promise.all(names.map((name) => ownCorpus(service, caller.callerId, name)));
  const request = {
    question,
    passages,
    signal,
    corpora: corpora.map(({ place }) => place),
    payer: { caller: caller.callerId, corpus: first.corpus_name },
  };
  const sentences: AnswerSentence[] = [];
  for await (const part of answerer.answer(request)) {
    if (part.kind === 'admitted') yield { event: 'passages', data: { passages } };
    else if (part.kind === 'sentence') {
      const data = sentenceShape(part.sentence);
      sentences.push(data);
      yield { event: 'sentence', data };
    } else {
      const { isAbsent, isCut, isCached, cost } = part;
      const isSupported = sentences.some(({ is_supported }) => is_supported);
      const answered = {
        outcome: isSupported ? 'answered' : 'unsupported',
        answer: sentences.map(textOf).join(' '),
        sentences,
      } as const;
      const { tokens, cents: cost_cents = null } = cost;
      const data: Answer = {
        ...(isAbsent ? notInCorpus : answered),
        ...begun,
        model: answerer.model,
        is_cut: isCut,
        is_cached: isCached,
        cost_cents,
        tokens_in: tokens.input,
        tokens_out: tokens.output,
      };
      const { outcome } = data;
      const seen = { corpus_name: first.corpus_name, model: answerer.model, outcome };
      service.audit.emit('corpus_asked', caller, { ...seen, cost_cents });
      yield { event: 'done', data };
    }
  }
}

/** A request without an HTTP request. */
const nobody = {
  params: undefined,
  query: undefined,
  headers: undefined,
  log: { info: () => undefined },
  reply: { header: () => undefined },
};

const notInCorpus = {
  outcome: 'not_in_corpus',
  answer: null,
  sentences: [],
  model: null,
  is_cut: false,
  is_cached: false,
  tokens_in: 0,
  tokens_out: 0,
  cost_cents: 0,
} satisfies Omit<Answer, 'passages' | 'did_you_mean'>;

function configured(answerer: Answerer | undefined): Answerer {
  if (answerer) return answerer;
  const message =
    'no model answers questions: set PAWL_ANSWERER=openai:MODEL, with PAWL_ANSWERER_KEY, or with ' +
    'PAWL_ANSWERER_URL for a server of your own';
  throw new Failure('answerer_missing', message);
}

function sentenceShape({ text, citations, isSupported }: Sentence): AnswerSentence {
  return { text, citations: [...citations], is_supported: isSupported };
}

function textOf({ text, citations, is_supported: isSupported }: AnswerSentence): string {
  return citedText({ text, citations, isSupported });
}
