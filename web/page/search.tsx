/** Instant search. The query is part of the address, so a search can be shared as a link. */
import { Link, useNavigate, useRouterState, useSearch } from '@tanstack/react-router';
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import type { Corpus } from '../../src/contract/schema/schema.ts';
import { Empty, Problem, Skeleton } from '../part/basic.tsx';
import { useCorpora } from '../part/corpus-query.ts';
import { useKeptScroll } from '../part/kept-scroll.ts';
import { useKeys } from '../part/keys.ts';
import { useWideScreen } from '../part/wide-screen.ts';
import type { SearchSearch } from '../router.tsx';
import '../style/reading.css';
import '../style/search.css';
import '../style/text.css';
import { AnswerPane } from './search/answer.tsx';
import { CopyAs } from './search/copy-dialog.tsx';
import { Facets } from './search/facets.tsx';
import { SearchForm } from './search/form.tsx';
import { type FoundResults, useFound } from './search/found.ts';
import { Hits } from './search/hits.tsx';
import { Preview } from './search/preview.tsx';
import { type Asked, corporaOf, searchBody } from './search/request.ts';
import { Samples } from './search/samples.tsx';
import { Summary } from './search/summary.tsx';
import { WhyNot } from './why-not.tsx';

export function SearchPage() {
  const given = useSearch({ from: '/search' });
  const navigate = useNavigate({ from: '/search' });
  const known = useCorpora();
  const names = known.data?.items.map(({ name }) => name) ?? [];
  const chosen = corporaOf(given.corpus);
  const corpora = chosen.length > 0 ? chosen : largestOf(known.data?.items ?? []);
  const ask = (change: SearchSearch): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  if (known.isPending) {
    return (
      <Frame>
        <Skeleton lines={6} />
      </Frame>
    );
  }
  if (known.isError && !known.data) {
    return (
      <Frame>
        <Problem error={known.error} onRetry={() => void known.refetch()} />
      </Frame>
    );
  }
  if (corpora.length === 0) {
    return (
      <Frame>
        <NothingToSearch />
      </Frame>
    );
  }
  return <Searching asked={{ ...given, corpora, q: given.q ?? '' }} names={names} ask={ask} />;
}

function largestOf(corpora: readonly Corpus[]): string[] {
  const [largest] = corpora.toSorted((a, b) => b.documents - a.documents);
  return largest ? [largest.name] : [];
}

function Frame({ children }: { children: ReactNode }) {
  return (
    <div className="page narrow">
      <header className="page-head">
        <h1>Search</h1>
      </header>
      {children}
    </div>
  );
}

export interface SearchingProps {
  readonly asked: Asked;
  readonly names: readonly string[];
  readonly ask: (change: SearchSearch) => void;
}

const panesFromPx = 1100;

function Searching({ asked, names, ask }: SearchingProps) {
  const found = useFound(asked);
  const page = useRef<HTMLDivElement>(null);
  const key = useRouterState({ select: ({ location }) => location.href });
  const { list, chosen, choose, onKey } = useChoice(found);
  const isWide = useWideScreen(panesFromPx);
  useKeptScroll(page, { key, isReady: found.first !== undefined });
  const hit = found.isEmpty ? undefined : found.hits[chosen];
  const hasPanes = isWide && hit !== undefined;
  return (
    <div ref={page} className="page search-page">
      <header className="page-head">
        <h1>Search</h1>
        {!found.isEmpty && <CopyAs body={searchBody(asked)} />}
      </header>
      <SearchForm asked={asked} names={names} ask={ask} onKey={onKey} />
      <AnswerPane body={searchBody(asked)} />
      {found.error !== undefined && <Problem error={found.error} onRetry={found.again} />}
      {found.isEmpty && <Invitation corpora={asked.corpora} />}
      {!found.isEmpty && found.isLoading && found.error === undefined && <Skeleton lines={8} />}
      {!found.isEmpty && found.first && found.error === undefined && (
        <div className={hasPanes ? 'panes' : 'stack'} aria-busy={found.isStale}>
          <div className={found.isStale ? 'stack stale' : 'stack'}>
            <Summary found={found} asked={asked} ask={ask} />
            <Facets found={found.first.facets} asked={asked} ask={ask} />
            {found.hits.length > 0 && (
              <Hits
                hits={found.hits}
                words={asked.q}
                chosen={chosen}
                onChoose={choose}
                hasSeveralCorpora={asked.corpora.length > 1}
                onWhere={(where) => ask({ where })}
                list={list}
              />
            )}
            {found.more && (
              <button type="button" className="button" onClick={found.more}>
                More results
              </button>
            )}
          </div>
          {hasPanes && <Preview hit={hit} words={asked.q} />}
        </div>
      )}
      <WhyNot corpus={asked.corpora[0] ?? ''} query={asked.q} />
    </div>
  );
}

/** The arrow keys choose in the field as well, which keeps the focus; Enter opens. */
function useChoice({ hits, key, isStale }: FoundResults) {
  const list = useRef<HTMLOListElement>(null);
  const [choice, setChoice] = useState({ key, place: 0 });
  // The first one of another search; the same one when the results are read again.
  const chosen = choice.key === key ? choice.place : 0;
  const choose = (place: number): void => setChoice({ key, place });
  const links = (): HTMLElement[] => [
    ...(list.current?.querySelectorAll<HTMLElement>('.hit h2 a') ?? []),
  ];
  const next = (step: number): number =>
    Math.min(Math.max(chosen + step, 0), Math.max(hits.length - 1, 0));
  const focus = (step: number): void => {
    const isInside = list.current?.contains(document.activeElement) ?? false;
    links()[isInside ? next(step) : chosen]?.focus();
  };
  useKeys({ j: () => focus(1), k: () => focus(-1) });
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      choose(next(step));
      links()[next(step)]?.closest('.hit')?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter' && !isStale) links()[chosen]?.click();
  };
  return { list, chosen, choose, onKey };
}

function Invitation({ corpora }: { corpora: readonly string[] }) {
  const [only, ...others] = corpora;
  return (
    <Empty
      title={`Search ${corpora.join(', ')}`}
      next={only !== undefined && others.length === 0 && <Samples corpus={only} />}
    >
      Results appear as you type. The address of this page contains the search, so you can share it
      as a link. Quotes find exact words, and <code>-word</code> excludes one.
    </Empty>
  );
}

function NothingToSearch() {
  return (
    <Empty
      title="Nothing to search yet"
      next={
        <Link to="/add" className="button primary">
          Add documents
        </Link>
      }
    >
      Documents are searchable moments after you add them.
    </Empty>
  );
}
