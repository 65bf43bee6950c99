/** Instant search. The query is part of the address, so a search can be shared as a link. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useDeferredValue } from 'react';
import { AddressedInput } from '../part/addressed-input.tsx';
import { Empty, Problem, Skeleton } from '../part/basic.tsx';
import { Menu, Segments } from '../part/choice.tsx';
import { useCorpora } from '../part/corpus-query.ts';
import { counted, duration } from '../part/wording.ts';
import type { SearchSearch } from '../router.tsx';
import { useWorkbench } from '../workbench.ts';
import { Hits } from './search-hits.tsx';
import { WhyNot } from './why-not.tsx';

const modes = [
  { value: 'hybrid', name: 'Hybrid' },
  { value: 'keyword', name: 'Keyword' },
  { value: 'vector', name: 'Vector' },
] as const;

const filters = [
  { name: 'source', label: 'Source starts with' },
  { name: 'title', label: 'Title contains' },
] as const;

const hitsMax = 20;

type Asked = SearchSearch & { readonly corpus: string; readonly q: string };

function useFound(asked: SearchSearch) {
  const { client } = useWorkbench();
  const { corpus = '', q = '', mode, source, title, explain } = asked;
  const filter = source || title ? { filter: { source, title } } : {};
  return useQuery({
    queryKey: ['search', asked],
    enabled: corpus !== '' && q.trim() !== '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      client().ask('POST /search', {
        body: { corpus_name: corpus, query: q, top_k: hitsMax, mode, explain, ...filter },
        signal,
      }),
  });
}

export function SearchPage() {
  const given = useSearch({ from: '/search' });
  const navigate = useNavigate({ from: '/search' });
  const corpora = useCorpora();
  const names = corpora.data?.items.map(({ name }) => name) ?? [];
  const corpus = given.corpus ?? names[0];
  const ask = (change: SearchSearch): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  if (corpora.isPending) return <Waiting />;
  if (corpora.isError && !corpora.data) {
    return (
      <div className="page narrow">
        <h1>Search</h1>
        <Problem error={corpora.error} onRetry={() => void corpora.refetch()} />
      </div>
    );
  }
  return (
    <div className="page narrow">
      <header className="page-head">
        <h1>Search</h1>
      </header>
      {corpus === undefined ? (
        <NothingToSearch />
      ) : (
        <Searching asked={{ ...given, corpus, q: given.q ?? '' }} names={names} ask={ask} />
      )}
    </div>
  );
}

function Waiting() {
  return (
    <div className="page narrow">
      <h1>Search</h1>
      <Skeleton lines={6} />
    </div>
  );
}

interface SearchingProps {
  readonly asked: Asked;
  readonly names: readonly string[];
  readonly ask: (change: SearchSearch) => void;
}

function Searching({ asked, names, ask }: SearchingProps) {
  const found = useFound(useDeferredValue(asked));
  const { q } = asked;
  return (
    <>
      <SearchForm asked={asked} names={names} ask={ask} />
      {found.isError && <Problem error={found.error} onRetry={() => void found.refetch()} />}
      {q.trim() === '' && (
        <Empty title={`Search ${asked.corpus}`}>
          Results appear as you type. The address of this page contains the search, so you can share
          it as a link.
        </Empty>
      )}
      {q.trim() !== '' && found.isLoading && <Skeleton lines={8} />}
      {q.trim() !== '' && found.data && !found.isError && (
        <>
          <p className="soft" role="status">
            {counted(found.data.results.length, 'passage')} · {duration(found.data.query_ms)}
          </p>
          <Hits hits={found.data.results} />
        </>
      )}
      <WhyNot corpus={asked.corpus} query={q} />
    </>
  );
}

function SearchForm({ asked, names, ask }: SearchingProps) {
  const options = [...new Set([asked.corpus, ...names])].map((name) => ({ value: name, name }));
  return (
    <search className="stack">
      <AddressedInput
        label="What to search for"
        isLabelHidden
        isFirst
        className="input large"
        type="search"
        placeholder="Search in your own words"
        value={asked.q}
        onType={(q) => ask({ q })}
      />
      <div className="row" style={{ alignItems: 'flex-end' }}>
        <Menu
          label="Corpus"
          options={options}
          value={asked.corpus}
          onChange={(corpus) => ask({ corpus })}
        />
        <Segments
          label="Search mode"
          options={modes}
          value={asked.mode ?? 'hybrid'}
          onChange={(mode) => ask({ mode: mode === 'hybrid' ? undefined : mode })}
        />
        {filters.map(({ name, label }) => (
          <AddressedInput
            key={name}
            label={label}
            className="input"
            value={asked[name]}
            onType={(text) => ask({ [name]: text })}
          />
        ))}
        <label className="switch">
          <input
            type="checkbox"
            checked={asked.explain ?? false}
            onChange={(event) => ask({ explain: event.target.checked || undefined })}
          />
          Explain
        </label>
      </div>
    </search>
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
