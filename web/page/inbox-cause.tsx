/** One cause: its count, its advice, and the failed documents. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useLayoutEffect, useMemo } from 'react';
import type { Cause, Item } from '../../src/contract/schema/schema.ts';
import { Badge, Problem, Skeleton, Time } from '../part/basic.tsx';
import { StepStrip } from '../part/step-strip.tsx';
import { count, shortSource, words } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';
import type { Choice } from './inbox-actions.ts';
import { Fix } from './inbox-fix.tsx';

export interface CauseViewProps {
  readonly cause: Cause;
  readonly corpus: string | undefined;
  readonly isOpen: boolean;
  readonly chosen: string | undefined;
  readonly opened: number | undefined;
  readonly hidden: ReadonlySet<string>;
  readonly onEnter: (choice: Choice) => void;
  readonly onRetry: (choice: Choice) => void;
  readonly onDiscard: (choice: Choice) => void;
  readonly onListed: (items: readonly Item[]) => void;
}

export function CauseView(props: CauseViewProps) {
  const { cause, isOpen, chosen, onEnter, onRetry, onDiscard } = props;
  const id = `cause ${cause.fingerprint}`;
  return (
    <section className="cause" aria-label={cause.sentence}>
      <header className={chosen === id ? 'chosen' : undefined}>
        <div className="stack tight grow">
          <button
            id={id}
            type="button"
            className="entry-open row"
            aria-expanded={isOpen}
            onClick={() => onEnter({ cause })}
          >
            <Badge tone="bad">{count(cause.count)}</Badge>
            <strong>{cause.title}</strong>
            <code className="soft">{cause.fingerprint}</code>
          </button>
          <p>{cause.advice}</p>
          <p className="soft small">
            First <Time at={cause.first_at} />, last <Time at={cause.last_at} />
          </p>
        </div>
        <span className="row">
          <button type="button" className="button" onClick={() => onRetry({ cause })}>
            {cause.count === 1 ? 'Retry' : `Retry all ${count(cause.count)}`}
          </button>
          <button type="button" className="button danger" onClick={() => onDiscard({ cause })}>
            Discard
          </button>
        </span>
      </header>
      {isOpen && <CauseItems {...props} />}
    </section>
  );
}

const itemsPerPage = 25;

function CauseItems(props: CauseViewProps) {
  const { cause, corpus, hidden, onListed } = props;
  const { client } = useWorkbench();
  const query = useInfiniteQuery({
    queryKey: ['inbox', corpus ?? '', cause.fingerprint],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      client().ask('GET /inbox', {
        query: { corpus_name: corpus, cause: cause.fingerprint, limit: itemsPerPage, cursor },
        signal,
      }),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  const items = useMemo(() => {
    const all = query.data?.pages.flatMap((page) => page.items) ?? [];
    return all.filter(({ item_id }) => !hidden.has(`item ${item_id}`));
  }, [query.data, hidden]);
  // Before it is painted: the keys must know every row that can be seen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only changes of the list count
  useLayoutEffect(() => onListed(items), [items]);
  if (query.isError && items.length === 0) return <Problem error={query.error} />;
  if (query.isPending) return <Skeleton lines={2} />;
  return (
    <ul>
      {items.map((item) => (
        <Entry key={item.item_id} item={item} {...props} />
      ))}
      {query.hasNextPage && (
        <li className="entry">
          <button type="button" className="button" onClick={() => void query.fetchNextPage()}>
            Show more
          </button>
        </li>
      )}
    </ul>
  );
}

function Entry({ item, ...props }: CauseViewProps & { item: Item }) {
  const { cause, chosen, opened, onEnter, onRetry, onDiscard } = props;
  const id = `item ${item.item_id}`;
  const choice = { cause, item };
  const isOpened = opened === item.item_id;
  return (
    <li>
      <div className={chosen === id ? 'entry failure chosen' : 'entry failure'}>
        <button
          id={id}
          type="button"
          className="entry-open grow source"
          aria-expanded={isOpened}
          onClick={() => onEnter(choice)}
        >
          {shortSource(item.source)}
        </button>
        <span className="soft small">
          <Time at={item.failed_at} />
        </span>
        <button type="button" className="button quiet" onClick={() => onRetry(choice)}>
          Retry
        </button>
        <button type="button" className="button quiet" onClick={() => onDiscard(choice)}>
          Discard
        </button>
      </div>
      {isOpened && <Tried item={item} />}
    </li>
  );
}

/** The tries so far, and the current state. */
function Tried({ item }: { item: Item }) {
  const { error } = item;
  const context = Object.entries(error?.context ?? {}).filter(([, value]) => value !== null);
  return (
    <div className="entry">
      <div className="stack grow">
        <StepStrip item={item} />
        <p>{item.explanation}</p>
        {error && <p className="soft">{error.message}</p>}
        <Fix item={item} />
        {context.length > 0 && (
          <p className="small soft source">
            {context.map(([name, value]) => `${words(name)}: ${String(value)}`).join(' · ')}
          </p>
        )}
        <p className="row">
          <Link to="/jobs/$id" params={{ id: item.job_id }} search={{ item: item.item_id }}>
            All tries, step by step
          </Link>
          <span className="soft">in {item.corpus_name}</span>
        </p>
      </div>
    </div>
  );
}
