/** One document of a job: its state, its failure, and its timeline. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Item } from '../../../src/contract/schema/schema.ts';
import { Badge, Facts, Problem, Skeleton, Time, type Tone } from '../../part/basic.tsx';
import { count, money, shortSource, words } from '../../part/wording.ts';
import { useWorkbench } from '../../workbench.ts';
import { Timeline } from './timeline-view.tsx';

const tones: Readonly<Record<string, Tone>> = { done: 'ok', failed: 'bad', canceled: 'plain' };

export interface ItemDrawerProps {
  readonly itemId: number;
  readonly onClose: (() => void) | undefined;
}

/** Reads the document by itself, so that it need not be among the rows that are loaded. */
export function ItemDrawer({ itemId, onClose }: ItemDrawerProps) {
  const { client } = useWorkbench();
  const { data, isError, error } = useQuery({
    queryKey: ['item', itemId],
    queryFn: ({ signal }) =>
      client().ask('GET /items/:id', { params: { id: String(itemId) }, signal }),
  });
  if (data) return <ItemView item={data} onClose={onClose} />;
  return isError ? <Problem error={error} /> : <Skeleton lines={8} />;
}

interface ItemViewProps extends Pick<ItemDrawerProps, 'onClose'> {
  readonly item: Item;
}

function ItemView({ item, onClose }: ItemViewProps) {
  const { error } = item;
  const isOpen = item.waits_on !== null;
  const waits = item.next_retry_at ? <Time at={item.next_retry_at} /> : item.waits_on;
  const facts = [
    ...(isOpen ? [{ name: 'Waiting for', value: waits, isPlain: true }] : []),
    { name: 'Attempt', value: count(item.attempt), isPlain: true },
    ...(item.lease ? [{ name: 'Worker', value: item.lease.worker, isPlain: true }] : []),
    { name: 'Cost', value: money(item.cost_cents), isPlain: true },
    { name: 'Tokens', value: count(item.tokens.in + item.tokens.out), isPlain: true },
    { name: 'Last change', value: <Time at={item.moved_at} />, isPlain: true },
  ];
  return (
    <section className="card stack drawer" aria-label="Selected document">
      <div className="row spread">
        <Badge tone={tones[item.step] ?? 'run'}>{words(item.step)}</Badge>
        {onClose && (
          <button type="button" className="button quiet" onClick={onClose}>
            Close
          </button>
        )}
      </div>
      <h2 className="source" dir="auto">
        {shortSource(item.source)}
      </h2>
      <ItemActions item={item} />
      <p data-explanation>{item.explanation}</p>
      {item.working && <Working working={item.working} />}
      {error && (
        <div className="problem">
          <h3>
            {error.message} <code className="soft">{error.code}</code>
          </h3>
          <p className="soft">{item.advice}</p>
        </div>
      )}
      <Facts facts={facts} />
      <Timeline item={item} isOpen={isOpen} />
    </section>
  );
}

function Working({ working }: { working: NonNullable<Item['working']> }) {
  const { step, done, total } = working;
  const text = `${words(step)}: ${count(done)} of ${count(total)}`;
  return (
    <div className="row">
      <span className="grow meter" role="img" aria-label={text}>
        <span style={{ width: `${total === 0 ? 0 : (done / total) * 100}%` }} />
      </span>
      <span className="soft number">{text}</span>
    </div>
  );
}

function ItemActions({ item }: { item: Item }) {
  const { client, notices } = useWorkbench();
  const retry = useMutation({
    mutationFn: () => client().ask('POST /inbox/retry', { body: { item_ids: [item.item_id] } }),
    onSuccess: () => notices.tell(`Retrying ${shortSource(item.source)}.`),
    onError: (error) => notices.tell(error.message, { tone: 'bad' }),
  });
  return (
    <span className="row">
      {item.actions.includes('retry') && (
        <button
          type="button"
          className="button"
          disabled={retry.isPending}
          onClick={() => retry.mutate()}
        >
          Retry
        </button>
      )}
      <Link
        to="/jobs/$id"
        params={{ id: item.job_id }}
        search={{ tab: 'events', item: item.item_id }}
        className="button"
      >
        Events
      </Link>
      {item.reached.includes('indexed') && (
        <Link to="/documents/$id" params={{ id: item.document_id }} className="button">
          Open document
        </Link>
      )}
    </span>
  );
}
