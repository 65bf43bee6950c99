/** One source: its state, what waits for a decision, its runs, and what can be restored. */
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { syncRunState } from '../../../src/kernel/lifecycle/sync-run.ts';
import { syncSourceState } from '../../../src/kernel/lifecycle/sync-source.ts';
import { Badge, Facts, Problem, Skeleton, Time } from '../../part/basic.tsx';
import { Confirm } from '../../part/dialog.tsx';
import { count } from '../../part/wording.ts';
import { HeldRemovals } from './held-removals.tsx';
import { Removed } from './removed.tsx';
import { RunLegend, RunStrip } from './run-strip.tsx';
import { RunView } from './run-view.tsx';
import { useSourceAction } from './source-action.ts';
import { type Run, type Source, useRuns, useSource } from './source-query.ts';
import { kindName, labelOf } from './source-word.ts';
import '../../style/source.css';

export function SourcePage() {
  const { name } = useParams({ from: '/sources/$name' });
  const { data: source, isPending, isError, error, refetch } = useSource(name);
  return (
    <div className="page narrow">
      <Link to="/sources" className="soft small">
        ← Sources
      </Link>
      <header className="page-head">
        <h1>{name}</h1>
        {source && <Actions source={source} />}
      </header>
      {isPending && <Skeleton lines={6} />}
      {isError && !source && <Problem error={error} onRetry={() => void refetch()} />}
      {source && <SourceView source={source} />}
    </div>
  );
}

function SourceView({ source }: { source: Source }) {
  const { name, corpus_name, kind, location, error, last_run } = source;
  const { data } = useRuns(name, `${last_run?.run_id} ${last_run?.state}`);
  const runs = data?.items ?? [];
  const held = runs.find(({ state }) => state === syncRunState.held);
  const label = labelOf(source);
  return (
    <>
      <div className="row" data-source-state={source.state}>
        <Badge tone={label.tone}>{label.name}</Badge>
        <span className="soft">{kindName(kind)}</span>
        <code className="source">{location}</code>
        <span className="soft">into</span>
        <Link to="/corpora/$name" params={{ name: corpus_name }}>
          {corpus_name}
        </Link>
      </div>
      {error && (
        <div className="problem" role="alert">
          <h2>
            The source cannot be read <code className="soft">{error.code}</code>
          </h2>
          <p>{error.message}</p>
          <p className="soft">{error.advice} Its documents stay searchable.</p>
        </div>
      )}
      {held && <HeldRemovals source={source} run={held} />}
      <SourceFacts source={source} />
      {data && <Runs source={source} runs={runs} />}
      {source.removed > 0 && <Removed source={source} />}
    </>
  );
}

function SourceFacts({ source }: { source: Source }) {
  const { documents, removed, synced_at, next_run_at, schedule, state } = source;
  const isPaused = state === syncSourceState.paused;
  const options = optionsOf(source);
  return (
    <>
      <Facts
        facts={[
          { name: 'Documents', value: count(documents) },
          { name: 'Last in sync', value: <Time at={synced_at} /> },
          { name: 'Schedule', value: schedule ?? 'On demand' },
          {
            name: 'Next run',
            value: isPaused || next_run_at === null ? 'None planned' : <Time at={next_run_at} />,
          },
          { name: 'Restorable', value: count(removed) },
        ]}
      />
      {options.length > 0 && <Facts facts={options} isWide />}
    </>
  );
}

const optionNames = {
  include: 'Only',
  exclude: 'Without',
  branch: 'Branch',
  depth: 'Link depth',
  limit: 'Maximum pages',
  endpoint: 'Server',
  budget_cents: 'Budget of a job, in cents',
  lane: 'Lane',
  priority: 'Priority',
} as const;

function optionsOf(source: Source) {
  return Object.entries(optionNames).flatMap(([key, name]) => {
    const value = source[key as keyof typeof optionNames];
    if (value === undefined) return [];
    const text = Array.isArray(value) ? value.join(' ') : String(value);
    return [{ name, value: text, isPlain: true }];
  });
}

function Actions({ source }: { source: Source }) {
  const { mutate, isPending } = useSourceAction(source.name);
  const [isAsking, setAsking] = useState(false);
  const isPaused = source.state === syncSourceState.paused;
  return (
    <>
      <button
        type="button"
        className="button primary"
        disabled={isPending || isPaused}
        onClick={() => mutate('run')}
      >
        Run now
      </button>
      <button
        type="button"
        className="button"
        title="Finds what a run would do, and changes nothing"
        disabled={isPending || isPaused}
        onClick={() => mutate('plan')}
      >
        Dry run
      </button>
      <button
        type="button"
        className="button"
        disabled={isPending}
        onClick={() => mutate(isPaused ? 'resume' : 'pause')}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </button>
      <button type="button" className="button danger" onClick={() => setAsking(true)}>
        Remove
      </button>
      {isAsking && (
        <Confirm
          title={`Stop following ${source.name}?`}
          verb="Remove the source"
          onConfirm={() => mutate('remove')}
          onClose={() => setAsking(false)}
        >
          Its documents stay in {source.corpus_name}, but they will not change with the source any
          more.
        </Confirm>
      )}
    </>
  );
}

function Runs({ source, runs }: { source: Source; runs: readonly Run[] }) {
  const { run: asked } = useSearch({ from: '/sources/$name' });
  const navigate = useNavigate({ from: '/sources/$name' });
  const chosen = runs.find(({ run_id }) => run_id === asked) ?? runs[0];
  return (
    <section className="card stack" aria-label="Runs">
      <div className="row spread">
        <h2>Runs</h2>
        {runs.length > 0 && <RunLegend />}
      </div>
      {runs.length === 0 && (
        <p className="soft">
          {source.schedule === null
            ? 'None yet. “Run now” compares the source with its corpus.'
            : 'None yet. The first one begins by schedule.'}
        </p>
      )}
      {runs.length > 0 && (
        <RunStrip
          runs={runs}
          chosen={chosen?.run_id}
          onChoose={({ run_id }) =>
            void navigate({ search: { run: run_id }, replace: true, resetScroll: false })
          }
        />
      )}
      {chosen && <RunView run={chosen} />}
    </section>
  );
}
