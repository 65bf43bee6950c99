/** The schemas of questions and answers. */
import type { Static } from 'typebox';
import { limits } from '../../kernel/limits/limits.ts';
import { closed, nullable } from './parts.ts';
import { Hit, Search } from './search.ts';
import { Type } from './type.ts';

const { passagesDefault, passagesMax } = limits.answer;
const { corpus_name, corpus_names, mode, filter, min_score } = Search.properties;

export const Question = Type.Object(
  {
    corpus_name,
    corpus_names,
    question: Type.String({
      minLength: 1,
      maxLength: limits.search.queryCharactersMax,
      description: 'In any language; the answer has the same.',
    }),
    passages: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: passagesMax,
        description: `How many passages the model reads; ${passagesDefault} if absent.`,
      }),
    ),
    mode,
    filter,
    min_score,
    stream: Type.Optional(
      Type.Boolean({
        description:
          'True: over HTTP, the answer comes as server-sent events, sentence by sentence: ' +
          '`passages`, `sentence` for each sentence, and `done` with the whole answer, or ' +
          '`problem`.',
      }),
    ),
  },
  closed,
);

export const AnswerSentence = Type.Object({
  text: Type.String({ description: 'Without its citations.' }),
  citations: Type.Array(Type.Integer({ minimum: 1 }), {
    description: 'The passages that the model names for it, by their `number`.',
  }),
  is_supported: Type.Boolean({ description: 'False: it names no passage that was given.' }),
});

export const AnswerPassage = Type.Object({
  number: Type.Integer({ minimum: 1 }),
  ...Hit.properties,
});

export const AnswerPassages = Type.Object({
  passages: Type.Array(AnswerPassage, { description: 'What the model reads, best first.' }),
});

export const Answer = Type.Object({
  outcome: Type.Union(
    [Type.Literal('answered'), Type.Literal('unsupported'), Type.Literal('not_in_corpus')],
    {
      description:
        '`unsupported`: no sentence names a passage. `not_in_corpus`: nothing was found, or the ' +
        'passages do not have the answer.',
    },
  ),
  answer: nullable(Type.String({ description: 'The sentences, with citations such as [1].' })),
  sentences: Type.Array(AnswerSentence),
  ...AnswerPassages.properties,
  model: nullable(Type.String({ description: 'Null if no model was asked.' })),
  is_cut: Type.Boolean({ description: 'The answer was longer than the model may write.' }),
  is_cached: Type.Boolean({ description: 'It was paid for before, and is free now.' }),
  tokens_in: Type.Integer({ minimum: 0 }),
  tokens_out: Type.Integer({ minimum: 0 }),
  cost_cents: nullable(Type.Number({ description: 'Null if the price is unknown.' })),
  did_you_mean: nullable(Type.String()),
});

export type Answer = Static<typeof Answer>;
export type AnswerSentence = Static<typeof AnswerSentence>;
export type AnswerPassages = Static<typeof AnswerPassages>;

/** What is sent while an answer is written, by the names of the events. */
export type AnswerEvent =
  | { readonly event: 'passages'; readonly data: AnswerPassages }
  | { readonly event: 'sentence'; readonly data: AnswerSentence }
  | { readonly event: 'done'; readonly data: Answer };
