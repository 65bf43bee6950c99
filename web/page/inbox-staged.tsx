/** Sources of the last import that failed before they were stored: they are in no job. */
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import {
  forgetSourceMessages,
  isStagedFailure,
  refreshAttempt,
  type Staged,
  useStaging,
} from '../live/attempt.ts';
import { Badge } from '../part/basic.tsx';
import { LongList } from '../part/long-list.tsx';
import { count, shortSource } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';

const rowHeight = 60;
const rowsShown = 5;

export function StagedFailures({ corpus }: { corpus: string | undefined }) {
  const { client, notices, queries } = useWorkbench();
  const all = useStaging().data?.items ?? [];
  const failed = all.filter(
    (source) => isStagedFailure(source) && (!corpus || source.corpus_name === corpus),
  );
  const remove = useMutation({
    mutationFn: (ids: readonly string[]) =>
      client().ask('DELETE /staging', { query: { id: ids.join(',') } }),
    onSuccess: (_, ids) => forgetSourceMessages(queries, ids),
    onError: (error) => notices.tell(error.message, { tone: 'bad' }),
    onSettled: () => refreshAttempt(queries),
  });
  const [first] = failed;
  if (!first) return null;
  return (
    <section className="cause" aria-label="Not added">
      <header>
        <div className="stack tight grow">
          <span className="row">
            <Badge tone="bad">{count(failed.length)}</Badge>
            <strong>Not added by the last import</strong>
          </span>
          <p>They failed before anything was stored. Try them again, or remove them.</p>
        </div>
        <span className="row">
          <Link to="/add" search={{ corpus: first.corpus_name ?? undefined }} className="button">
            Try again
          </Link>
          <button
            type="button"
            className="button danger"
            disabled={remove.isPending}
            onClick={() => remove.mutate(failed.map(({ id }) => id))}
          >
            Remove
          </button>
        </span>
      </header>
      <div
        className="group-rows"
        style={{ height: Math.min(failed.length, rowsShown) * rowHeight }}
      >
        <LongList
          label="Sources that were not added"
          rows={failed}
          rowHeight={rowHeight}
          keyOf={({ id }) => id}
          render={(source) => <FailedRow source={source} />}
        />
      </div>
    </section>
  );
}

function FailedRow({ source: { name, explanation, code, corpus_name } }: { source: Staged }) {
  return (
    <div className="entry">
      <div className="grow">
        <div className="cut" title={name} dir="auto">
          {shortSource(name)}
        </div>
        <div className="cut soft small" title={explanation}>
          {explanation} <code>{code}</code>
        </div>
      </div>
      {corpus_name !== null && <span className="soft">{`for ${corpus_name}`}</span>}
    </div>
  );
}
