/** The timeline of a document: one row per run of a step; parallel runs overlap. */
import type { Item } from '../../../src/contract/schema/schema.ts';
import { useItemLog } from '../../live/job-log.ts';
import { Problem, Skeleton, Wide } from '../../part/basic.tsx';
import { type Run, timelineOf } from '../../part/timeline.ts';
import { duration, money, words } from '../../part/wording.ts';

export function Timeline({ item, isOpen }: { item: Item; isOpen: boolean }) {
  const { data, isError, error } = useItemLog(item.item_id);
  if (isError && !data) return <Problem error={error} />;
  if (!data) return <Skeleton lines={8} />;
  const runs = timelineOf(data, item.item_id);
  if (runs.length === 0) {
    return <p className="soft">No step has run yet.</p>;
  }
  const now = isOpen ? Date.now() : Math.max(...runs.map(endOf));
  const from = Math.min(...runs.map(({ startedAt }) => startedAt));
  const to = Math.max(now, ...runs.map(endOf));
  return (
    <Wide label="Timeline">
      <table className="table">
        <thead>
          <tr>
            <th>Step</th>
            <th>Start</th>
            <th className="number">Duration</th>
            <th>Result</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={`${run.step} ${run.startedAt} ${run.attempt} ${run.outcome}`}>
              <td>
                {words(run.step)}
                {run.attempt > 1 && <span className="soft">{` · attempt ${run.attempt}`}</span>}
              </td>
              <td style={{ width: '45%' }}>
                <div className="track">
                  <span className={classOf(run)} style={barOf(run, from, to)} />
                </div>
              </td>
              <td className="number">{duration((run.endedAt ?? now) - run.startedAt)}</td>
              <td className="soft">{noteOf(run)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

const endOf = ({ startedAt, endedAt }: Run): number => endedAt ?? startedAt;

function classOf({ outcome }: Run): string {
  if (outcome === 'failed' || outcome === 'lost') return 'failed';
  return outcome === 'open' ? 'open' : '';
}

function barOf(run: Run, from: number, to: number) {
  const span = Math.max(to - from, 1);
  const left = ((run.startedAt - from) / span) * 100;
  const width = (((run.endedAt ?? to) - run.startedAt) / span) * 100;
  return { left: `${Math.min(left, 99)}%`, width: `${Math.min(width, 100 - left)}%` };
}

const outcomes = { open: 'running', done: 'done', failed: 'failed', lost: 'lost' } as const;

function noteOf({ outcome, notes, costCents }: Run): string {
  const cost = costCents > 0 ? [money(costCents)] : [];
  return [outcomes[outcome], ...notes, ...cost].join(' · ');
}
