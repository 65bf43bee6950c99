/** The places that corpora follow: their state, freshness and last runs. */
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { syncRunState } from '../../../src/kernel/lifecycle/sync-run.ts';
import { syncSourceState } from '../../../src/kernel/lifecycle/sync-source.ts';
import { Badge, Empty, Problem, Skeleton, Time } from '../../part/basic.tsx';
import { LongList } from '../../part/long-list.tsx';
import { count, counted } from '../../part/wording.ts';
import { RunStrip } from './run-strip.tsx';
import { type Source, useRuns, useSources } from './source-query.ts';
import { kindName, labelOf } from './source-word.ts';
import '../../style/source.css';

const rowHeight = 60;

export function SourcesPage() {
  const { data, isPending, isError, error, refetch } = useSources();
  const sources = (data?.items ?? []).toSorted((one, other) => rankOf(one) - rankOf(other));
  const urgent = sources.filter(({ state }) => state === syncSourceState.failing).length;
  return (
    <div className="page fills">
      <header className="page-head">
        <h1>Sources</h1>
        {sources.length > 0 && (
          <span className="soft">
            {counted(sources.length, 'source')}
            {urgent > 0 && `, ${count(urgent)} failing`}
          </span>
        )}
        <Link to="/sources/new" className="button primary">
          Add a source
        </Link>
      </header>
      {isPending && <Skeleton lines={5} />}
      {isError && !data && <Problem error={error} onRetry={() => void refetch()} />}
      {data && sources.length === 0 && (
        <Empty
          title="No corpus follows a source yet"
          next={
            <Link to="/sources/new" className="button primary">
              Add a source
            </Link>
          }
        >
          A source is a folder, site, feed, list of pages, repository or bucket. Its corpus stays
          equal to it: new documents are added, changed ones replaced, deleted ones removed.
        </Empty>
      )}
      {sources.length > 0 && (
        <LongList
          label="Sources"
          rows={sources}
          rowHeight={rowHeight}
          keyOf={({ name }) => name}
          render={(source) => <SourceRow source={source} />}
        />
      )}
    </div>
  );
}

/** What needs a person comes first. */
function rankOf({ state, last_run }: Source): number {
  if (state === syncSourceState.failing) return 0;
  return last_run?.state === syncRunState.held ? 1 : 2;
}

/** Renders only visible rows, so only their runs are read. */
const SourceRow = memo(function SourceRow({ source }: { source: Source }) {
  const { name, corpus_name, kind, location, documents, synced_at, last_run } = source;
  const { data } = useRuns(name, `${last_run?.run_id} ${last_run?.state}`);
  const { tone, name: label } = labelOf(source);
  return (
    <Link to="/sources/$name" params={{ name }} className="source-row" data-source-name={name}>
      <span className="stack tight">
        <span className="row nowrap">
          <strong className="cut">{name}</strong>
          <span className="soft cut">{`into ${corpus_name}`}</span>
        </span>
        <span className="soft small cut" title={location}>
          {kindName(kind)} · {location}
        </span>
      </span>
      <span>
        <Badge tone={tone}>{label}</Badge>
      </span>
      <span className="wide">
        <RunStrip runs={data?.items ?? []} />
      </span>
      <span className="number wide">{counted(documents, 'document')}</span>
      <span className="number soft age">
        {synced_at === null ? 'never in sync' : <Time at={synced_at} />}
      </span>
    </Link>
  );
});
