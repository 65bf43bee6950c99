/**
 * Answers a question from passages, by a chat model: only at the address that the corpora know,
 * within the budget of the caller, and not again for the same question and passages. What was sent
 * is charged also if the caller leaves or the answer breaks off.
 */

import { limits } from '../../kernel/limits/limits.ts';
import type { CorpusPlace } from '../../kernel/name/corpus-name.ts';
import type { Origin } from '../../kernel/name/origin.ts';
import { checkOrigin } from '../../pipeline/corpus-origin.ts';
import type { RequestCost, RequestMoney } from '../../pipeline/request-money.ts';
import type { ChatMessage, ChatModel } from '../../provider/chat/chat-stream.ts';
import { guessTokens } from '../../provider/embedding/embedding.ts';
import type { Database } from '../../store/driver/database.ts';
import { notInPassages, type PromptPassage, promptOf } from './prompt.ts';
import { type Sentence, SentenceReader } from './sentences.ts';

export interface AnswerRequest {
  readonly question: string;
  readonly passages: readonly PromptPassage[];
  /** The corpora of the passages. */
  readonly corpora: readonly CorpusPlace[];
  /** The caller, with its name of the first corpus. */
  readonly payer: CorpusPlace;
  readonly signal: AbortSignal;
}

export type AnswerPart =
  /** The model may be asked: its address and the budget allow it. */
  | { readonly kind: 'admitted' }
  | { readonly kind: 'sentence'; readonly sentence: Sentence }
  | ({ readonly kind: 'end' } & AnswerEnd);

export interface AnswerEnd {
  /** The passages do not have the answer. */
  readonly isAbsent: boolean;
  /** It stopped at its longest length. */
  readonly isCut: boolean;
  /** It was paid for before. */
  readonly isCached: boolean;
  readonly cost: RequestCost;
}

export interface Answerer {
  readonly model: string;
  readonly origin: Origin;
  answer(request: AnswerRequest): AsyncGenerator<AnswerPart>;
}

export interface AnswererParts {
  readonly chat: ChatModel;
  readonly database: Database;
  readonly money: RequestMoney;
}

const nothing = { tokens: { input: 0, output: 0 }, cents: 0 };

export function chatAnswerer(parts: AnswererParts): Answerer {
  const { model, origin } = parts.chat;
  return { model, origin, answer: (request) => answer(parts, request) };
}

async function* answer(parts: AnswererParts, request: AnswerRequest): AsyncGenerator<AnswerPart> {
  const { chat, money } = parts;
  const { passages, payer } = request;
  const recordFirstUse = await checkOrigins(parts, request);
  const messages = promptOf(request.question, passages);
  const purchase = {
    payer,
    step: 'answer 1',
    model: chat.model,
    priceSetting: 'PAWL_ANSWERER_PRICE',
    input: JSON.stringify([chat.origin.url, messages]),
  };
  const known = await money.find(purchase, (tokens) => chat.centsOf(tokens));
  if (known) {
    const { text, isCut } = JSON.parse(new TextDecoder().decode(known)) as Stored;
    yield { kind: 'admitted' };
    const { isAbsent } = yield* sentencesOf(ofText(text), passages.length);
    yield { kind: 'end', isAbsent, isCut, isCached: true, cost: nothing };
    return;
  }
  const settle = await money.reserve(purchase, chat.centsOf(chat.guess(messages)));
  const call = new Call(chat, messages);
  let isSettled = false;
  const settleOnce = async (response?: Uint8Array): Promise<void> => {
    if (isSettled) return;
    isSettled = true;
    await settle(call.cost(), response);
  };
  try {
    await recordFirstUse();
    yield { kind: 'admitted' };
    const { isAbsent } = yield* sentencesOf(call.text(request.signal), passages.length);
    const { isCut } = call;
    const stored: Stored = { text: call.received, isCut };
    await settleOnce(new TextEncoder().encode(JSON.stringify(stored)));
    yield { kind: 'end', isAbsent, isCut, isCached: false, cost: call.cost() ?? nothing };
  } finally {
    await settleOnce();
  }
}

interface Stored {
  readonly text: string;
  readonly isCut: boolean;
}

async function checkOrigins({ chat, database }: AnswererParts, { corpora }: AnswerRequest) {
  const records = await Promise.all(
    corpora.map((corpus) => {
      const { model, origin } = chat;
      return checkOrigin(database, { ...corpus, use: 'answers', model, origin, isBegun: false });
    }),
  );
  return async (): Promise<void> => {
    for (const record of records) if (record) await database.write(record);
  };
}

/** One request to the model, and what it costs so far. */
class Call {
  readonly #chat: ChatModel;
  readonly #messages: readonly ChatMessage[];
  #cost: RequestCost | undefined;
  received = '';
  isCut = false;

  constructor(chat: ChatModel, messages: readonly ChatMessage[]) {
    this.#chat = chat;
    this.#messages = messages;
  }

  async *text(signal: AbortSignal): AsyncGenerator<string> {
    for await (const event of this.#chat.stream(this.#messages, signal)) {
      if (event.kind === 'end') {
        this.isCut = event.isCut;
        if (event.tokens) this.#count(event.tokens);
        return;
      }
      if (event.kind === 'text') {
        this.received += event.text;
        yield event.text;
      }
      const { input } = this.#chat.guess(this.#messages);
      this.#count({ input, output: guessTokens(this.received) });
      if (this.received.length < limits.answer.charactersMax) continue;
      this.isCut = true;
      return;
    }
  }

  /** Undefined if the server has not accepted the request. */
  cost(): RequestCost | undefined {
    return this.#cost;
  }

  #count(tokens: RequestCost['tokens']): void {
    this.#cost = { tokens, cents: this.#chat.centsOf(tokens) };
  }
}

async function* ofText(text: string): AsyncGenerator<string> {
  yield text;
}

/** Nothing is yielded while the text may still be the words for an absent answer. */
async function* sentencesOf(
  texts: AsyncIterable<string>,
  passages: number,
): AsyncGenerator<AnswerPart, { readonly isAbsent: boolean }> {
  const reader = new SentenceReader(passages);
  const isSaid = ({ text }: Sentence): boolean => !text.includes(notInPassages);
  let [held, isHeld, isAbsent] = ['', true, true];
  const partsOf = (sentences: readonly Sentence[]): AnswerPart[] => {
    const said = sentences.filter(isSaid);
    isAbsent &&= said.length === 0;
    return said.map((sentence) => ({ kind: 'sentence', sentence }));
  };
  for await (const text of texts) {
    held = isHeld ? held + text : text;
    const start = held.trimStart();
    isHeld &&= notInPassages.startsWith(start) || start.startsWith(notInPassages);
    if (!isHeld) yield* partsOf(reader.add(held));
  }
  if (isHeld && held.includes(notInPassages)) return { isAbsent };
  yield* partsOf([...(isHeld ? reader.add(held) : []), ...reader.end()]);
  return { isAbsent };
}
