/** The attempt: its phases, the progress of its sources, and whether it is safe to leave. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { failures, isFailureCode } from '../../src/kernel/failure/failure.ts';
import { attemptStatus, phaseTable } from '../../src/kernel/lifecycle/attempt.ts';
import type { Attempt, Staged } from '../live/attempt.ts';
import { Badge, type Tone } from '../part/basic.tsx';
import { messageOf } from '../part/job-badge.ts';
import { Stages } from '../part/status.tsx';
import { count, counted } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';
import { isOpen } from './attempt-button.ts';
import { StagedList } from './staged-list.tsx';

const badges: Readonly<Record<Attempt['status'], { tone: Tone; name: string }>> = {
  idle: { tone: 'plain', name: 'Not started' },
  running: { tone: 'run', name: 'Running' },
  stopping: { tone: 'warn', name: 'Stopping' },
  paused: { tone: 'warn', name: 'Paused' },
  complete: { tone: 'ok', name: 'Complete' },
};

const doings: Readonly<Record<Attempt['phase'], string>> = {
  not_started: 'Starting.',
  preflight: 'Checking each source: whether it is reachable, and whether it is new.',
  parsing: 'Reading the text of each source.',
  splitting: 'Splitting the texts into chunks.',
  atomic_text_commit: 'Storing all sources in one transaction.',
  text_committed: 'All sources are stored.',
};

const stored = { tone: 'ok', name: 'Stored' } as const;

/** A stop after the commit leaves an idle attempt whose job continues. */
function badgeOf({ status, job_id }: Attempt): { tone: Tone; name: string } {
  return status === attemptStatus.idle && job_id !== null ? stored : badges[status];
}

const sentences: Readonly<Record<Attempt['status'], (attempt: Attempt) => string>> = {
  idle: ({ sources, job_id }) => {
    if (job_id !== null) return 'Everything was stored before the stop. A job makes it searchable.';
    if (sources) return 'Import failed. Remaining files are listed below.';
    return 'Ready to be added.';
  },
  running: ({ phase }) => doings[phase],
  stopping: () => 'Finishing the current step.',
  paused: () => 'Finished steps are kept and not repeated when you resume.',
  complete: (attempt) =>
    attempt.job_id === null
      ? 'The corpus already has all sources. Nothing was stored.'
      : `${outcomeOf(attempt)}. A job makes the documents searchable.`,
};

/** Such as "386 added, 1 needs you". */
function outcomeOf({ sources }: Attempt): string {
  if (!sources) return 'Text and chunks are stored';
  const { split, failed } = sources;
  const added = `${count(split)} added`;
  return failed === 0 ? added : `${added}, ${count(failed)} ${failed === 1 ? 'needs' : 'need'} you`;
}

const isSafe = 'It is stored and cannot be lost.';
const isUnsafe =
  'You may use other pages meanwhile. Nothing is in the corpus yet: if the service stops ' +
  'now, this import is lost.';

export interface AttemptViewProps {
  readonly attempt: Attempt;
  /** Where a finished attempt has added documents. */
  readonly corpus: string;
  readonly sources: readonly Staged[];
}

export function AttemptView({ attempt, sources, corpus }: AttemptViewProps) {
  const { status, trouble } = attempt;
  const badge = badgeOf(attempt);
  return (
    <section className="stack" aria-label="Import" data-attempt={status}>
      <div className="row" role="status">
        <Badge tone={badge.tone}>{badge.name}</Badge>
        <span>{sentences[status](attempt)}</span>
        {isOpen(attempt) && <span className="soft">{`into ${attempt.corpus_name}`}</span>}
      </div>
      {status !== attemptStatus.idle && <PhaseStrip attempt={attempt} />}
      {attempt.sources && <Counts sources={attempt.sources} />}
      {trouble && <Trouble {...trouble} />}
      {isOpen(attempt) && <p className="soft small">{attempt.safe_to_leave ? isSafe : isUnsafe}</p>}
      {!isOpen(attempt) && attempt.job_id !== null && (
        <Following jobId={attempt.job_id} corpus={attempt.corpus_name ?? corpus} />
      )}
      {sources.length > 0 && <StagedList sources={sources} status={status} />}
    </section>
  );
}

const phases = phaseTable.map(({ phase }) => phase).filter((phase) => phase !== 'not_started');

const phaseNames = {
  preflight: 'Checking',
  parsing: 'Reading',
  splitting: 'Chunking',
  atomic_text_commit: 'Saving',
  text_committed: 'Saved',
} as const satisfies Record<(typeof phases)[number], string>;

function PhaseStrip({ attempt: { status, phase } }: { attempt: Attempt }) {
  const isComplete = status === attemptStatus.complete;
  const place = isComplete ? phases.length : phases.indexOf(phase as (typeof phases)[0]);
  return (
    <ol className="phases" aria-label="Phases">
      {phases.map((name, index) => (
        <li
          key={name}
          className={classOf(index, place, status)}
          aria-current={index === place ? 'step' : undefined}
        >
          {phaseNames[name]}
        </li>
      ))}
    </ol>
  );
}

function classOf(index: number, place: number, status: Attempt['status']): string {
  if (index < place) return 'past';
  if (index > place) return '';
  return status === attemptStatus.running ? 'now' : 'still';
}

function Counts({ sources }: { sources: NonNullable<Attempt['sources']> }) {
  const { total, checked, parsed, split, skipped, failed } = sources;
  const share = (part: number): string => `${total === 0 ? 0 : (part / total) * 100}%`;
  const parts = [
    `${checked} checked`,
    `${parsed} read`,
    `${split} chunked`,
    `${skipped} skipped`,
    `${failed} failed`,
  ];
  return (
    <div className="row">
      <span className="grow meter" role="img" aria-label={`${split} of ${total} sources are ready`}>
        <span style={{ width: share(split) }} />
        <span className="canceled" style={{ width: share(skipped) }} />
        <span className="failed" style={{ width: share(failed) }} />
      </span>
      <span className="soft">{`${counted(total, 'source')}: ${parts.join(', ')}`}</span>
    </div>
  );
}

function Trouble({ code, message }: { code: string; message: string }) {
  const row = isFailureCode(code) ? failures[code] : undefined;
  return (
    <div className="problem" role="alert">
      <h2>
        {row?.title ?? 'Paused automatically'} <code className="soft">{code}</code>
      </h2>
      <p>{message}</p>
      {row && <p className="soft">{row.advice}</p>}
    </div>
  );
}

/** The stored sources continue as an ordinary job. */
function Following({ jobId: id, corpus }: { jobId: string; corpus: string }) {
  const { client } = useWorkbench();
  const { data: job } = useQuery({
    queryKey: ['job', id],
    queryFn: ({ signal }) => client().ask('GET /jobs/:id', { params: { id }, signal }),
  });
  return (
    <div className="card stack tight">
      <div className="row spread">
        <strong>{job ? messageOf(job) : 'The job is starting.'}</strong>
        <span className="row">
          <Link to="/search" search={{ corpus }} className="button">
            {`Search ${corpus}`}
          </Link>
          <Link to="/jobs/$id" params={{ id }} className="button">
            Open the job
          </Link>
        </span>
      </div>
      {job && <Stages job={job} />}
    </div>
  );
}
