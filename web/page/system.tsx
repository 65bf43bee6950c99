/** The service itself: health, queues, throughput, and stuck documents. */
import { useQuery } from '@tanstack/react-query';
import { Badge, Facts, Problem, Skeleton, Wide } from '../part/basic.tsx';
import { Chart } from '../part/chart.tsx';
import {
  depthsOf,
  latenciesOf,
  type Moment,
  momentOf,
  ratesOf,
  readMetrics,
  type Sample,
  sumOf,
} from '../part/metrics.ts';
import { count } from '../part/wording.ts';
import { useConnectionState, useWorkbench } from '../workbench.ts';
import { ItemCounts } from './system-limits.tsx';

interface Readings {
  readonly samples: readonly Sample[];
  readonly moments: readonly Moment[];
}

const everyMs = 2000;
const momentsMax = 150;

function useReadings() {
  const { client, queries } = useWorkbench();
  return useQuery({
    queryKey: ['metrics'],
    refetchInterval: everyMs,
    gcTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<Readings> => {
      const samples = readMetrics(await client().ask('GET /metrics', { signal }));
      const before = queries.getQueryData<Readings>(['metrics'])?.moments ?? [];
      const moments = [...before, momentOf(samples, Date.now())].slice(-momentsMax);
      return { samples, moments };
    },
  });
}

export function SystemPage() {
  const { data, isPending, isError, error } = useReadings();
  return (
    <div className="page">
      <header className="page-head">
        <h1>System</h1>
        <a className="button" href="/docs">
          HTTP API
        </a>
        <a className="button" href="/metrics">
          Metrics
        </a>
      </header>
      <Health />
      {isPending && <Skeleton lines={6} />}
      {isError && !data && <Problem error={error} />}
      {data && <StuckDocuments samples={data.samples} />}
      {data && <Queues samples={data.samples} />}
      <ItemCounts />
      {data && (
        <div className="charts">
          <Chart title="Documents" unit="/s" points={ratesOf(data.moments, 'documents')} />
          <Chart title="Steps" unit="/s" points={ratesOf(data.moments, 'steps')} />
          <Chart title="Waiting" unit="documents" points={depthsOf(data.moments)} />
          <Chart title="Embedding" unit="ms" points={latenciesOf(data.moments, 'embedding')} />
          <Chart title="Search" unit="ms" points={latenciesOf(data.moments, 'search')} />
          <Chart title="Requests" unit="/s" points={ratesOf(data.moments, 'requests')} />
          <Chart title="Request time" unit="ms" points={latenciesOf(data.moments, 'request')} />
        </div>
      )}
      {data && <Failures samples={data.samples} />}
    </div>
  );
}

function Health() {
  const connection = useConnectionState();
  const { data } = useQuery({
    queryKey: ['ready'],
    refetchInterval: everyMs,
    queryFn: async () => readReady(await fetch('/readyz')),
  });
  const checks = Object.entries(data?.checks ?? {});
  return (
    <section className="card stack" aria-label="Health">
      <div className="row">
        <h2>Health</h2>
        {data && (
          <Badge tone={data.ready ? 'ok' : 'bad'}>{data.ready ? 'ready' : 'not ready'}</Badge>
        )}
        {connection === 'offline' && <Badge tone="bad">unreachable</Badge>}
      </div>
      <Wide label="Checks">
        <table className="table">
          <tbody>
            {checks.map(([name, { ok, detail }]) => (
              <tr key={name}>
                <td>{name}</td>
                <td>
                  <Badge tone={ok ? 'ok' : 'bad'}>{ok ? 'OK' : 'Failing'}</Badge>
                </td>
                <td className="soft">{detail}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </section>
  );
}

interface Ready {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly detail: string }>>;
}

/** 503 names the failing part in the same response shape. */
async function readReady(response: Response): Promise<Ready> {
  return (await response.json()) as Ready;
}

function StuckDocuments({ samples }: { samples: readonly Sample[] }) {
  const stuck = sumOf(samples, 'pawl_items_without_forward_cause');
  return (
    <section className="card row" aria-label="Stuck documents" data-stuck={stuck}>
      <span className={`figure ${stuck === 0 ? 'tone-ok' : 'tone-bad'}`}>{count(stuck)}</span>
      <div className="grow">
        <h2>Stuck documents</h2>
        <p className="soft">
          {stuck === 0
            ? 'Every open document has a scheduled next event.'
            : 'These documents will not move without help. This is a bug: run `pawl ' +
              'doctor` and report it.'}
        </p>
      </div>
    </section>
  );
}

function Queues({ samples }: { samples: readonly Sample[] }) {
  const depth = (queue: string): string => count(sumOf(samples, 'queue_depth', { queue }));
  const facts = [
    { name: 'Waiting for a worker', value: depth('turns') },
    { name: 'Waiting for a retry', value: depth('timers') },
    { name: 'Waiting for a limit', value: depth('gates') },
    { name: 'Running jobs', value: count(sumOf(samples, 'jobs_inflight')) },
    { name: 'Retries since the start', value: count(sumOf(samples, 'retry_attempts_total')) },
    { name: 'Open streams', value: count(sumOf(samples, 'pawl_streams_open')) },
  ];
  return <Facts facts={facts} />;
}

function Failures({ samples }: { samples: readonly Sample[] }) {
  const failed = samples.filter(({ name }) => name === 'pawl_item_failures_total');
  if (failed.length === 0) return null;
  return (
    <section className="card stack" aria-label="Failures since the start">
      <h2>Failures since the start</h2>
      <div className="row">
        {failed
          .toSorted((a, b) => b.value - a.value)
          .map(({ labels, value }) => (
            <Badge key={labels.code} tone="bad">{`${labels.code} × ${count(value)}`}</Badge>
          ))}
      </div>
    </section>
  );
}
