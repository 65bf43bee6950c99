/** The history of a document: every run that processed it, newest first. */
import { Link } from '@tanstack/react-router';
import type { Document, Item } from '../../../src/contract/schema/schema.ts';
import { Badge, Problem, Skeleton, Time, type Tone } from '../../part/basic.tsx';
import { usePaged } from '../../part/paged.ts';
import { words } from '../../part/wording.ts';
import { useWorkbench } from '../../workbench.ts';

const runsPerPage = 10;

export function Runs({ document }: { document: Document }) {
  const { client } = useWorkbench();
  const { document_id: id, generation } = document;
  const {
    query,
    rows: runs,
    more,
  } = usePaged<Item>({
    key: ['document', id, 'runs', generation],
    read: ({ cursor, signal }) =>
      client().ask('GET /documents/:id/items', {
        params: { id },
        query: { limit: runsPerPage, cursor },
        signal,
      }),
  });
  return (
    <section className="stack" aria-label="Versions">
      <h2>Versions</h2>
      <p className="soft small">
        Search uses the current version only. The text of earlier versions is deleted; their runs
        are kept.
      </p>
      {query.isPending && <Skeleton lines={2} />}
      {query.isError && runs.length === 0 && <Problem error={query.error} />}
      <ol className="stack tight">
        {runs.map((run) => (
          <RunRow key={run.item_id} run={run} />
        ))}
      </ol>
      {more && (
        <button type="button" className="button" onClick={more}>
          Show earlier ones
        </button>
      )}
    </section>
  );
}

const tones: Readonly<Record<string, Tone>> = { done: 'ok', failed: 'bad', canceled: 'plain' };

function RunRow({ run }: { run: Item }) {
  return (
    <li className="row">
      <Badge tone={tones[run.step] ?? 'run'}>{words(run.step)}</Badge>
      <Link to="/jobs/$id" params={{ id: run.job_id }} search={{ item: run.item_id }}>
        <Time at={run.moved_at} />
      </Link>
      <span className="soft small grow">{run.explanation}</span>
    </li>
  );
}
