/** How much was found; if nothing was, what to do about it. */
import { Empty } from '../../part/basic.tsx';
import { count, counted, duration } from '../../part/wording.ts';
import type { SearchSearch } from '../../router.tsx';
import type { FoundResults } from './found.ts';
import type { Asked } from './request.ts';

export interface SummaryProps {
  readonly found: FoundResults;
  readonly asked: Asked;
  readonly ask: (change: SearchSearch) => void;
}

export function Summary({ found, asked, ask }: SummaryProps) {
  const { first, hits, isStale } = found;
  if (!first) return null;
  const suggestion = first.did_you_mean;
  const isOnlyNear = hits.length > 0 && hits.every(({ near }) => near);
  return (
    <>
      <p className="row soft" role="status">
        {isStale ? (
          <span>Searching…</span>
        ) : (
          <span>{`${sizeOf(found)} · ${duration(first.query_ms)}`}</span>
        )}
        {suggestion !== null && (
          <span>
            {'Did you mean '}
            <button type="button" className="linked" onClick={() => ask({ q: suggestion })}>
              {suggestion}
            </button>
            ?
          </span>
        )}
      </p>
      {hits.length === 0 && !isStale && <Nothing asked={asked} ask={ask} />}
      {isOnlyNear && (
        <p className="tone-warn">No passage contains these words. Closest in meaning:</p>
      )}
    </>
  );
}

function sizeOf({ first, hits }: FoundResults): string {
  const total = first?.total ?? 0;
  if (hits.length === 0) return 'Nothing found';
  if (total === 0) return counted(hits.length, 'document');
  return `${counted(total, 'passage')}, ${count(hits.length)} documents shown`;
}

const narrowing = ['source', 'title', 'host', 'folder', 'language', 'date', 'where'] as const;

function Nothing({ asked, ask }: { asked: Asked; ask: SummaryProps['ask'] }) {
  const isNarrowed = narrowing.some((name) => asked[name] !== undefined);
  const wide: SearchSearch = Object.fromEntries(narrowing.map((name) => [name, undefined]));
  return (
    <Empty
      title="No passage contains these words"
      next={
        <span className="row">
          {!asked.near && (
            <button type="button" className="button" onClick={() => ask({ near: true })}>
              Show the closest in meaning
            </button>
          )}
          {isNarrowed && (
            <button type="button" className="button" onClick={() => ask(wide)}>
              Remove the filters
            </button>
          )}
        </span>
      }
    >
      Try other words. If a document should be here, check below why it is missing.
    </Empty>
  );
}
