/** Where a passage matches a query, and why it has its rank. */

import { Count, oneOf } from './parts.ts';
import { Type } from './type.ts';

const list = oneOf(['keyword', 'vector', 'feedback']);

export const Highlight = Type.Object(
  { start: Count, end: Count },
  { description: 'The position of a query word in the text.' },
);

export const Explanation = Type.Object({
  parts: Type.Array(
    Type.Object({
      list,
      rank: Type.Number(),
      score: Type.Number(),
      scaled: Type.Number(),
      weight: Type.Number(),
    }),
    { description: 'The rank and score in each list that has the passage.' },
  ),
  terms: Type.Array(Type.String(), { description: 'The query words in the passage, as stems.' }),
  feedbackTerms: Type.Array(Type.String(), {
    description: 'The words of the first results that were searched as well.',
  }),
  weights: Type.Record(Type.String(), Type.Number(), { description: 'The weight of each list.' }),
});
