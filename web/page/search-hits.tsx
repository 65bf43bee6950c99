/** The search results, with highlighted words and optional explanations. */
import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import type { Hit } from '../../src/contract/schema/schema.ts';
import { Badge, Empty, flowing, Marked, type Range, Wide } from '../part/basic.tsx';
import { useKeys } from '../part/keys.ts';
import { linkOf, shortSource } from '../part/wording.ts';

export function Hits({ hits }: { hits: readonly Hit[] }) {
  const list = useRef<HTMLOListElement>(null);
  const move = (step: number): void => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>('h2 a') ?? [])];
    const place = links.indexOf(document.activeElement as HTMLElement) + step;
    links[Math.min(Math.max(place, 0), links.length - 1)]?.focus();
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  if (hits.length === 0) {
    return (
      <Empty title="Nothing was found">
        Try other words, hybrid mode, or fewer filters. If a page should be here, check below why it
        is not.
      </Empty>
    );
  }
  return (
    <ol ref={list} className="card flush">
      {hits.map((hit, index) => (
        <HitView key={hit.chunk_id} hit={hit} place={index + 1} />
      ))}
    </ol>
  );
}

function HitView({ hit, place }: { hit: Hit; place: number }) {
  const link = linkOf(hit.source_url);
  return (
    <li className="hit">
      <div className="row spread">
        <h2 className="grow" dir="auto">
          <Link
            to="/documents/$id"
            params={{ id: hit.document_id }}
            search={{ chunk: hit.chunk_id }}
          >
            {hit.title ?? shortSource(hit.source_url)}
          </Link>
        </h2>
        <span className="number soft small">{hit.score.toFixed(2)}</span>
      </div>
      <div className="row small soft">
        {hit.heading !== '' && <span>{hit.heading.replaceAll(' > ', ' › ')}</span>}
        {hit.page !== null && <span>{`page ${hit.page}`}</span>}
        {link ? (
          <a href={link} target="_blank" rel="noreferrer noopener">
            {shortSource(link)}
          </a>
        ) : (
          <span title={hit.source_url}>{shortSource(hit.source_url)}</span>
        )}
        {hit.similar > 0 && <Badge>{`and ${hit.similar} like it`}</Badge>}
      </div>
      <p className="passage" dir="auto">
        <Marked text={flowing(hit.text)} ranges={hit.highlights.filter(isRange)} />
      </p>
      {hit.explanation !== undefined && (
        <Explained explanation={hit.explanation} place={place} words={wordsOf(hit)} />
      )}
    </li>
  );
}

function isRange(value: unknown): value is Range {
  const range = value as Partial<Range> | null;
  return typeof range?.start === 'number' && typeof range.end === 'number';
}

interface Part {
  readonly list: string;
  readonly rank: number;
  readonly score: number;
  readonly scaled: number;
  readonly weight: number;
}

interface Explanation {
  readonly parts: readonly Part[];
  readonly feedbackTerms: readonly string[];
}

function isExplanation(value: unknown): value is Explanation {
  return Array.isArray((value as Partial<Explanation> | null)?.parts);
}

/** As written in the passage; the index itself stores stems. */
function wordsOf({ text, highlights }: Hit): string[] {
  const found = highlights.filter(isRange).map(({ start, end }) => text.slice(start, end));
  return [...new Set(found.map((word) => word.toLowerCase()))];
}

interface ExplainedProps {
  readonly explanation: unknown;
  readonly place: number;
  readonly words: readonly string[];
}

function Explained({ explanation, place, words }: ExplainedProps) {
  if (!isExplanation(explanation)) return null;
  const { parts, feedbackTerms } = explanation;
  return (
    <Wide label={`Why passage ${place} was found`}>
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
