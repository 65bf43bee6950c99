/** Failed documents by cause, with advice. Every action has a key. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { isStagedFailure, useStaging } from '../live/attempt.ts';
import { Empty, Problem, Skeleton } from '../part/basic.tsx';
import { Menu } from '../part/choice.tsx';
import { useCorpora } from '../part/corpus-query.ts';
import { useLeftOf } from '../part/inbox-total.ts';
import { counted } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';
import { InboxList } from './inbox-list.tsx';
import { StagedFailures } from './inbox-staged.tsx';
import '../style/text.css';

export function InboxPage() {
  const { corpus } = useSearch({ from: '/inbox' });
  const { client } = useWorkbench();
  const query = useQuery({
    queryKey: ['inbox', corpus ?? ''],
    queryFn: ({ signal }) =>
      client().ask('GET /inbox', { query: { corpus_name: corpus, limit: 1 }, signal }),
  });
  const causes = query.data?.causes ?? [];
  const left = useLeftOf()(causes);
  const total = left.reduce((sum, cause) => sum + cause.count, 0);
  const staged = useStaging().data?.items.filter(isStagedFailure) ?? [];
  return (
    <div className="page narrow">
      <header className="page-head">
        <h1>Inbox</h1>
        <span className="soft number">{counted(total, 'document')}</span>
        <CorpusMenu corpus={corpus} />
      </header>
      {query.isPending && <Skeleton lines={6} />}
      {query.isError && !query.data && (
        <Problem error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.isSuccess && total + staged.length === 0 && (
        <Empty
          title="No failed documents"
          next={
            <Link to="/jobs" className="button">
              Show jobs
            </Link>
          }
        >
          Documents that cannot be fetched, read or indexed appear here, with the cause and what to
          do. Automatic retries do not.
        </Empty>
      )}
      <StagedFailures corpus={corpus} />
      {causes.length > 0 && <InboxList causes={left} corpus={corpus} />}
      {total > 0 && (
        <p className="soft small">
          <kbd>j</kbd> <kbd>k</kbd> navigate, <kbd>Enter</kbd> open, <kbd>r</kbd> retry,{' '}
          <kbd>d</kbd> discard; <kbd>R</kbd> and <kbd>D</kbd> apply to all documents with the same
          cause.
        </p>
      )}
    </div>
  );
}

function CorpusMenu({ corpus }: { corpus: string | undefined }) {
  const navigate = useNavigate({ from: '/inbox' });
  const { data } = useCorpora();
  const names = [
    ...new Set([...(corpus ? [corpus] : []), ...(data?.items ?? []).map((c) => c.name)]),
  ];
  const options = [
    { value: '', name: 'all corpora' },
    ...names.map((name) => ({ value: name, name })),
  ];
  return (
    <Menu
      label="Corpus"
      options={options}
      value={corpus ?? ''}
      onChange={(value) => void navigate({ search: { corpus: value || undefined } })}
    />
  );
}
