/** The last hour, which the service keeps, so that it is there when the page is opened. */
import { useQuery } from '@tanstack/react-query';
import type { AnswerOf } from '../../../src/contract/contract.ts';
import { Facts, Problem, Skeleton } from '../../part/basic.tsx';
import { Chart, type Series } from '../../part/chart.tsx';
import { bytes } from '../../part/wording.ts';
import { useWorkbench } from '../../workbench.ts';

type History = AnswerOf<'GET /system/history'>;
type Reading = History['readings'][number];

const everyMs = 5000;
const hourMs = 3_600_000;

export function LastHour() {
  const { client } = useWorkbench();
  const { data, isPending, isError, error, dataUpdatedAt } = useQuery({
    queryKey: ['system-history'],
    refetchInterval: everyMs,
    queryFn: ({ signal }) => client().ask('GET /system/history', { signal }),
  });
  if (isPending) return <Skeleton lines={6} />;
  if (!data) return isError ? <Problem error={error} /> : null;
  const { readings } = data;
  const seconds = data.interval_seconds;
  const perMinute = (name: 'documents' | 'requests' | 'searches' | 'failures'): Series => ({
    name: 'per minute',
    points: readings.map((reading) => ({
      at: Date.parse(reading.at),
      value: (reading[name] * 60) / seconds,
    })),
  });
  const frame = {
    from: dataUpdatedAt - hourMs,
    to: dataUpdatedAt,
    gapMs: 2 * seconds * 1000,
  };
  return (
    <>
      <About history={data} />
      <section className="charts" aria-label="The last hour">
        <Chart title="Documents indexed" unit="/min" series={[perMinute('documents')]} {...frame} />
        <Chart title="Failures" unit="/min" series={[perMinute('failures')]} {...frame} />
        <Chart title="Search time" unit="ms" series={timesOf(readings, 'search_ms')} {...frame} />
        <Chart title="Request time" unit="ms" series={timesOf(readings, 'request_ms')} {...frame} />
        <Chart title="Searches" unit="/min" series={[perMinute('searches')]} {...frame} />
        <Chart title="Requests" unit="/min" series={[perMinute('requests')]} {...frame} />
      </section>
    </>
  );
}

function timesOf(readings: readonly Reading[], name: 'search_ms' | 'request_ms'): Series[] {
  return (['p50', 'p95'] as const).map((share) => ({
    name: share,
    points: readings.flatMap((reading) => {
      const spread = reading[name];
      return spread ? [{ at: Date.parse(reading.at), value: spread[share] }] : [];
    }),
  }));
}

function About({ history: { version, model, store, disk } }: { history: History }) {
  const facts = [
    { name: 'Store and index', value: `${bytes(store.bytes)}, ${store.kind}`, isPlain: true },
    {
      name: 'Disk',
      value: disk ? `${bytes(disk.free_bytes)} free of ${bytes(disk.total_bytes)}` : 'unknown',
      isPlain: true,
    },
    { name: 'Model', value: model, isPlain: true },
    { name: 'Version', value: version, isPlain: true },
  ];
  return <Facts facts={facts} />;
}
