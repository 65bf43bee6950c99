/** Why a passage has its rank: what each list contributed. */
import type { Hit } from '../../../src/contract/schema/schema.ts';
import { Wide } from '../../part/basic.tsx';

type Explanation = NonNullable<Hit['explanation']>;

export function Explained({ hit, place }: { hit: Hit; place: number }) {
  if (!hit.explanation) return null;
  const { parts, feedbackTerms } = hit.explanation;
  const words = wordsOf(hit);
  return (
    <Wide label={`Why passage ${place} was found`}>
      <Shares parts={parts} />
      <table className="table small">
        <thead>
          <tr>
            <th>Ranking</th>
            <th className="number">Rank</th>
            <th className="number">Score</th>
            <th className="number">Weight</th>
            <th className="number">Contribution</th>
          </tr>
        </thead>
        <tbody>
          {parts.map((part) => (
            <tr key={part.list}>
              <td>{part.list}</td>
              <td className="number">{part.rank}</td>
              <td className="number">{part.score.toFixed(3)}</td>
              <td className="number">{part.weight.toFixed(2)}</td>
              <td className="number">{(part.scaled * part.weight).toFixed(3)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="soft small">
        {words.length > 0 ? `Words found: ${words.join(', ')}. ` : 'None of the exact words. '}
        {feedbackTerms.length > 0 && `Words added from the best hits: ${feedbackTerms.join(', ')}.`}
      </p>
    </Wide>
  );
}

/** One bar, with the share of each list. */
function Shares({ parts }: Pick<Explanation, 'parts'>) {
  const shares = parts.map(({ list, scaled, weight }) => ({ list, share: scaled * weight }));
  const sum = shares.reduce((all, { share }) => all + share, 0);
  if (sum <= 0) return null;
  return (
    <span className="shares" aria-hidden="true">
      {shares.map(({ list, share }) => (
        <i key={list} className={list} style={{ width: `${(share / sum) * 100}%` }} />
      ))}
    </span>
  );
}

/** As written in the passage; the index itself stores stems. */
function wordsOf({ text, highlights }: Hit): string[] {
  const found = highlights.map(({ start, end }) => text.slice(start, end));
  return [...new Set(found.map((word) => word.toLowerCase()))];
}
