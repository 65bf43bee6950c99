/** One run: what it found, each change with its evidence. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { syncRunState } from '../../../src/kernel/lifecycle/sync-run.ts';
import { Badge, Problem, Skeleton, Time } from '../../part/basic.tsx';
import { Segments } from '../../part/choice.tsx';
import { LongList } from '../../part/long-list.tsx';
import { usePaged } from '../../part/paged.ts';
import { count, shortSource } from '../../part/wording.ts';
import { useWorkbench } from '../../workbench.ts';
import { isWorked, type Run } from './source-query.ts';
import { causeOf, foundOf, runLabelOf } from './source-word.ts';

const changeKinds = ['added', 'changed', 'moved', 'restored', 'removed'] as const;
type Kind = (typeof changeKinds)[number];

const rowHeight = 40;
const rowsShown = 9;
const changesPerPage = 100;

export function RunView({ run }: { run: Run }) {
  const { tone, name } = runLabelOf(run);
  const total = changeKinds.reduce((sum, kind) => sum + run.found[kind], 0);
  return (
    <section className="stack" aria-label={`Run ${run.run_id}`} data-run={run.state}>
      <div className="row">
        <Badge tone={tone}>{name}</Badge>
        <strong>{foundOf(run)}</strong>
        <span className="soft">
          Run {run.run_id}, <Time at={run.created_at} />, {causeOf(run)}
        </span>
        {run.job_ids.map((id) => (
          <Link key={id} to="/jobs/$id" params={{ id }}>
            Open its job
          </Link>
        ))}
      </div>
      {run.is_plan && !isWorked(run) && (
        <p className="soft">A dry run: this is what a run would do. Nothing was changed.</p>
      )}
      {run.state === syncRunState.partial && (
        <p className="soft">A part of the source could not be listed, so nothing was removed.</p>
      )}
      {run.error && (
        <p className="tone-bad">
          {run.error.message} <span className="soft">{run.error.advice}</span>
        </p>
      )}
      {total > 0 && <Changes key={run.run_id} run={run} />}
    </section>
  );
}

function Changes({ run }: { run: Run }) {
  const kinds = changeKinds.filter((kind) => run.found[kind] > 0);
  const [chosen, setChosen] = useState<Kind | 'all'>('all');
  const options = [
    { value: 'all' as const, name: 'All' },
    ...kinds.map((kind) => ({ value: kind, name: `${count(run.found[kind])} ${kind}` })),
  ];
  return (
    <>
      {kinds.length > 1 && (
        <div className="row">
          <Segments label="Kind of change" options={options} value={chosen} onChange={setChosen} />
        </div>
      )}
      <ChangeList run={run} kind={chosen === 'all' ? undefined : chosen} />
    </>
  );
}

const tones = {
  added: 'ok',
  changed: 'run',
  moved: 'plain',
  restored: 'plain',
  removed: 'bad',
} as const;

interface ChangeListProps {
  readonly run: Run;
  readonly kind?: Kind | undefined;
  readonly label?: string;
  readonly rowsMax?: number;
}

/** The changes of a run, read as they are scrolled to. */
export function ChangeList({ run, kind, label = 'Changes', rowsMax = rowsShown }: ChangeListProps) {
  const { client } = useWorkbench();
  const { source: name, run_id, state } = run;
  const { query, rows, more } = usePaged({
    key: ['sources', name, 'changes', run_id, state, kind ?? 'all'],
    read: ({ cursor, signal }) =>
      client().ask('GET /sources/:name/runs/:run/changes', {
        params: { name, run: String(run_id) },
        query: { limit: changesPerPage, cursor, kind },
        signal,
      }),
  });
  if (query.isError && rows.length === 0) return <Problem error={query.error} />;
  if (query.isPending) return <Skeleton lines={3} />;
  const height = Math.min(rows.length, rowsMax) * rowHeight + 2;
  return (
    <div className="bounded" style={{ height }}>
      <LongList
        label={`${label} of run ${run_id}`}
        rows={rows}
        rowHeight={rowHeight}
        keyOf={({ kind, key }) => `${kind} ${key}`}
        render={({ kind, key, from_key, document_id, evidence }) => (
          <div className="change-row">
            <span>
              <Badge tone={tones[kind]}>{kind}</Badge>
            </span>
            <span className="cut" title={key} dir="auto">
              {document_id !== null && kind !== 'removed' ? (
                <Link to="/documents/$id" params={{ id: document_id }}>
                  {shortSource(key)}
                </Link>
              ) : (
                shortSource(key)
              )}
              {from_key !== null && (
                <span className="soft">{` from ${shortSource(from_key)}`}</span>
              )}
            </span>
            <span className="soft cut wide" title={evidence}>
              {evidence}
            </span>
          </div>
        )}
        onEnd={more}
      />
    </div>
  );
}
