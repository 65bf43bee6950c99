/** The running workers, and the current limits of sites and providers. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../src/contract/contract.ts';
import { Badge, Problem, Skeleton, Time, Wide } from '../../part/basic.tsx';
import { count, counted, duration } from '../../part/wording.ts';
import { useWorkbench } from '../../workbench.ts';

type System = AnswerOf<'GET /system'>;

const everyMs = 2000;
/**
 * Workers send a heartbeat every few seconds. One that is silent this long is about to lose its
 * leases.
 */
const silentMs = 30_000;

export function ItemCounts() {
  const { client, connection } = useWorkbench();
  const { data, isPending, isError, error } = useQuery({
    queryKey: ['system'],
    refetchInterval: everyMs,
    queryFn: ({ signal }) => client().ask('GET /system', { signal }),
  });
  if (isPending) return <Skeleton lines={4} />;
  if (isError && !data) return <Problem error={error} />;
  if (!data) return null;
  const { share } = connection;
  return (
    <div className="charts">
      <Workers workers={data.workers} />
      <Domains domains={data.domains} />
      <Providers providers={data.providers} />
      <Part title="Your rate limit" empty={undefined}>
        <p>
          You are <code>{data.caller.caller_id}</code>
          {data.caller.tier !== null && `, tier ${data.caller.tier}`}.{' '}
          {share ? (
            <>
              {`${count(share.remaining)} of ${counted(share.limit, 'request')} left; more `}
              <Time at={new Date(share.resetAt).toISOString()} />.
            </>
          ) : (
            'Without API keys there is one caller and no limit.'
          )}
        </p>
      </Part>
    </div>
  );
}

interface PartProps {
  readonly title: string;
  /** Shown for an empty list. */
  readonly empty: string | undefined;
  readonly children: ReactNode;
}

function Part({ title, empty, children }: PartProps) {
  return (
    <section className="card stack" aria-label={title}>
      <h2>{title}</h2>
      {empty === undefined ? children : <p className="soft">{empty}</p>}
    </section>
  );
}

function Workers({ workers }: { workers: System['workers'] }) {
  const isSilent = (beatAt: string): boolean => Date.now() - Date.parse(beatAt) > silentMs;
  const empty = workers.length === 0 ? 'No process is working on this store.' : undefined;
  return (
    <Part title="Workers" empty={empty}>
      <Wide label="Workers and their documents">
        <table className="table">
          <thead>
            <tr>
              <th>Worker</th>
              <th className="number">Documents</th>
              <th className="number">Last heartbeat</th>
            </tr>
          </thead>
          <tbody>
            {workers.map(({ worker, beat_at, items }) => (
              <tr key={worker} data-worker={items}>
                <td>
                  <code>{worker}</code> {isSilent(beat_at) && <Badge tone="warn">silent</Badge>}
                </td>
                <td className="number">{counted(items, 'document')}</td>
                <td className="number">
                  <Time at={beat_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Part>
  );
}

function Domains({ domains }: { domains: System['domains'] }) {
  const empty = domains.length === 0 ? 'No site is being fetched for you.' : undefined;
  return (
    <Part title="Crawl limits" empty={empty}>
      <Wide label="Sites and their limits">
        <table className="table">
          <thead>
            <tr>
              <th>Site</th>
              <th className="number">Concurrency</th>
              <th className="number">Delay</th>
              <th className="number">Queued</th>
            </tr>
          </thead>
          <tbody>
            {domains.map((row) => (
              <tr key={row.domain}>
                <td>{row.domain}</td>
                <td className="number">{`${count(row.reading)} / ${count(row.at_once)}`}</td>
                <td className="number">{duration(row.interval_ms)}</td>
                <td className="number">{count(row.waiting)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Part>
  );
}

function Providers({ providers }: { providers: System['providers'] }) {
  const empty =
    providers.length === 0 ? 'The model runs locally, without a rate limit.' : undefined;
  return (
    <Part title="Provider limits" empty={empty}>
      {providers.map((row) => (
        <div key={row.provider} className="stack tight">
          <div className="row spread">
            <strong>{row.provider}</strong>
            {row.closed_until !== null && (
              <Badge tone="warn">
                retries <Time at={row.closed_until} />
              </Badge>
            )}
          </div>
          <Left name="Requests" left={row.requests_left} of={row.requests_per_minute} />
          <Left name="Tokens" left={row.tokens_left} of={row.tokens_per_minute} />
        </div>
      ))}
    </Part>
  );
}

function Left({ name, left, of }: { name: string; left: number; of: number }) {
  const text = `${name}: ${count(left)} of ${count(of)} left this minute`;
  return (
    <div className="row">
      <span className="grow meter" role="img" aria-label={text}>
        <span style={{ width: `${of === 0 ? 0 : (left / of) * 100}%` }} />
      </span>
      <span className="soft small">{text}</span>
    </div>
  );
}
