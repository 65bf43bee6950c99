/** The documents of a job by station. A segment filters the list below it. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { JobDetail } from '../../../src/contract/schema/schema.ts';
import { type Segment, type Station, segmentsOf, stationNames } from '../../part/pipeline.ts';
import { count } from '../../part/wording.ts';

export function PipelineStrip({ job }: { job: JobDetail }) {
  const { at } = useSearch({ from: '/jobs/$id' });
  const navigate = useNavigate({ from: '/jobs/$id' });
  const choose = (station: Station): void =>
    void navigate({
      search: (before) => ({
        ...before,
        tab: undefined,
        item: undefined,
        at: station === at ? undefined : station,
      }),
      replace: true,
    });
  return (
    <fieldset className="pipeline" aria-label="Documents by step">
      {segmentsOf(job).map((segment) => (
        <button
          key={segment.station}
          type="button"
          className={classOf(segment)}
          data-station={segment.station}
          aria-pressed={segment.station === at}
          style={{ flexGrow: 1 + Math.log10(1 + segment.count) }}
          onClick={() => choose(segment.station)}
        >
          <span>{stationNames[segment.station]}</span>
          <strong className="number">{count(segment.count)}</strong>
        </button>
      ))}
    </fieldset>
  );
}

function classOf({ station, count: documents }: Segment): string {
  if (documents === 0) return 'none';
  if (station === 'done') return 'ok';
  if (station === 'failed') return 'bad';
  return station === 'canceled' ? '' : 'run';
}
