/** The service itself: its checks, its last hour, queues, limits and stuck documents. */
import { useQuery } from '@tanstack/react-query';
import { Badge, Facts, Problem, Skeleton, Wide } from '../../part/basic.tsx';
import { readMetrics, type Sample, sumOf } from '../../part/metrics.ts';
import { ThemeSwitch } from '../../part/theme.tsx';
import { count } from '../../part/wording.ts';
import '../../style/figure.css';
import { useConnectionState, useWorkbench } from '../../workbench.ts';
import { LastHour } from './last-hour.tsx';
import { ItemCounts } from './limits.tsx';

const everyMs = 2000;

function useSamples() {
  const { client } = useWorkbench();
  return useQuery({
    queryKey: ['metrics'],
    refetchInterval: everyMs,
    queryFn: async ({ signal }) => readMetrics(await client().ask('GET /metrics', { signal })),
  });
}

export function HealthPage() {
  const { data: samples, isPending, isError, error } = useSamples();
  return (
    <div className="page">
      <header className="page-head">
        <h1>Health</h1>
        <span className="narrow-only">
          <ThemeSwitch />
        </span>
        <a className="button" href="/docs">
          HTTP API
        </a>
        <a className="button" href="/metrics">
          Metrics
        </a>
      </header>
      <Verdict />
      <LastHour />
      {isPending && <Skeleton lines={6} />}
      {isError && !samples && <Problem error={error} />}
      {samples && <StuckDocuments samples={samples} />}
      {samples && <Queues samples={samples} />}
      <ItemCounts />
      {samples && <Failures samples={samples} />}
    </div>
  );
}

/** One sentence for all checks; the checks themselves are below it. */
function Verdict() {
  const connection = useConnectionState();
  const { data } = useQuery({
    queryKey: ['ready'],
    refetchInterval: everyMs,
    queryFn: async () => readReady(await fetch('/readyz')),
  });
  const checks = Object.entries(data?.checks ?? {});
  const failing = checks.filter(([, { ok }]) => !ok).map(([name]) => name);
  const isReached = connection !== 'offline';
  const isFine = isReached && data?.ready === true;
  return (
    <section className="card stack" aria-label="Checks">
      <div className="row" data-verdict={isFine ? 'fine' : 'failing'}>
        <Badge tone={isFine ? 'ok' : 'bad'}>{isFine ? 'OK' : 'Failing'}</Badge>
        <h2>
          {isFine ? 'All systems normal' : verdictOf({ isReached, isKnown: !!data, failing })}
        </h2>
      </div>
      <Wide label="Each check">
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

interface VerdictParts {
  readonly isReached: boolean;
  readonly isKnown: boolean;
  readonly failing: readonly string[];
}

function verdictOf({ isReached, isKnown, failing }: VerdictParts): string {
  if (!isReached) return 'The service is unreachable';
  if (!isKnown) return 'Checking…';
  return failing.length === 0 ? 'The service is not ready' : `Failing: ${failing.join(', ')}`;
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
