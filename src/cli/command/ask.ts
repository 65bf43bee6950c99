/** `pawl ask`: answers a question from the passages of a corpus, with citations. */
import type { BodyOf } from '../../contract/contract.ts';
import type { Answer, AnswerEvent } from '../../contract/schema/answer.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { answer, type Call, type Command, exits, numberOf, withStore } from '../command.ts';
import { filterFrom, filterOptions } from '../search-filter.ts';
import { questionOf, scoreOf, withCorpusAdvice } from '../search-form.ts';
import type { Terminal } from '../view/terminal.ts';
import { printable, wrap } from '../view/wording.ts';
import { displayPath } from './search.ts';

const { passagesDefault, passagesMax } = limits.answer;

export const ask: Command = {
  name: 'ask',
  summary: 'answer a question from a corpus, with citations',
  usage: ['ask CORPUS[,CORPUS…] QUESTION', 'ask QUESTION [--corpus NAME]'],
  options: {
    corpus: {
      type: 'string',
      short: 'c',
      value: 'NAME',
      meaning: 'the corpus, if it is not the first argument (PAWL_CORPUS, or default)',
    },
    passages: {
      type: 'string',
      value: 'N',
      meaning: `passages that the model reads: ${passagesDefault}, or up to ${passagesMax}`,
    },
    mode: {
      type: 'string',
      short: 'm',
      value: 'MODE',
      choices: ['hybrid', 'vector', 'keyword'],
      meaning: 'hybrid, vector or keyword',
    },
    'min-score': { type: 'string', value: 'X', meaning: 'least relevance, from 0 to 1' },
    ...filterOptions,
  },
  examples: [
    'pawl ask handbook "How long is money refunded?"',
    'pawl ask handbook "Who is on call?" --where \'team = "ops"\'',
  ],
  run: async (call) => {
    const { corpora, query: question } = questionOf(call, 'ask');
    const body: BodyOf<'POST /ask'> = {
      ...corpora,
      question,
      passages: numberOf(call.flags, 'passages', { min: 1, max: passagesMax }),
      min_score: scoreOf(call.flags['min-score']),
      mode: call.flags.mode as BodyOf<'POST /ask'>['mode'],
      filter: filterFrom(call),
    };
    const isShown = !call.isJson;
    const ended = withStore(call, async (pawl) => {
      try {
        const done = await read(pawl.answer(body, call.interrupt), async (text) => {
          if (isShown) await call.terminal.write(Buffer.from(text));
        });
        return answer(call, done, () => printEnd(call, done));
      } catch (error) {
        if (call.interrupt.aborted) return exits.interrupted;
        throw error;
      }
    });
    return withCorpusAdvice(call, 'ask', ended);
  },
};

/** Shows each sentence as it comes. */
async function read(
  events: AsyncIterable<AnswerEvent>,
  show: (text: string) => Promise<void>,
): Promise<Answer> {
  let shown = 0;
  for await (const { event, data } of events) {
    if (event === 'sentence') {
      const cited = data.citations.map((number) => `[${number}]`).join('');
      const mark = data.is_supported ? ` ${cited}` : ' [no source]';
      await show(`${shown === 0 ? '' : ' '}${printable(data.text)}${mark}`);
      shown += 1;
    } else if (event === 'done') {
      if (shown > 0) await show('\n');
      return data;
    }
  }
  throw new Failure('internal_error', 'the answer has no end');
}

function printEnd({ terminal }: Call, done: Answer): void {
  if (done.outcome === 'not_in_corpus') {
    terminal.print('The corpus does not have the answer.');
    if (done.did_you_mean !== null)
      terminal.print(`Did you mean “${printable(done.did_you_mean)}”?`);
    return;
  }
  if (done.is_cut) terminal.print('… The answer was longer than it may be, and ends here.');
  if (done.outcome === 'unsupported') {
    terminal.print('No sentence names a passage: this may not be from the corpus.');
  }
  terminal.print();
  const cited = new Set(done.sentences.flatMap(({ citations }) => citations));
  for (const passage of done.passages.filter(({ number }) => cited.has(number))) {
    printSource(terminal, passage);
  }
  terminal.print(terminal.paint('dim', costOf(done)));
}

function printSource(terminal: Terminal, passage: Answer['passages'][number]): void {
  const { number, title, heading, page, source_url } = passage;
  const parts = [title, ...heading.split(' > ').filter((part) => part !== title)];
  const name = printable(parts.filter((part) => part).join(' › '));
  const where = `${displayPath(source_url)}${page === null ? '' : ` · page ${page}`}`;
  const [line = ''] = wrap(`[${number}] ${name}`, terminal.columns());
  terminal.print(`${line}  ${terminal.paint('cyan', where)}`);
}

function costOf({ model, tokens_in, tokens_out, cost_cents, is_cached }: Answer): string {
  if (is_cached) return `${model} · paid for before`;
  const price =
    cost_cents === null ? 'price unknown' : `${Number(cost_cents.toPrecision(3))} cents`;
  return `${model} · ${tokens_in + tokens_out} tokens · ${price}`;
}
