/** The check result of each source, before anything is sent. Many sources are shown in groups. */
import { Badge, type Tone } from '../part/basic.tsx';
import { LongList } from '../part/long-list.tsx';
import type { Checked } from './preflight.ts';

const badges: Readonly<Record<Checked['verdict'], { tone: Tone; name: string }>> = {
  ready: { tone: 'ok', name: 'ready' },
  refused: { tone: 'bad', name: 'skipped' },
  twice: { tone: 'plain', name: 'skipped' },
};

/** With more sources than this, they are grouped. */
const plainMax = 20;
const rowHeight = 44;
const order: readonly Checked['verdict'][] = ['refused', 'twice', 'ready'];

export interface CheckedListProps {
  readonly checked: readonly Checked[];
  /** What the service already knows about it. */
  readonly known?: ReadonlyMap<string, string> | undefined;
  readonly onRemove?: ((index: number) => void) | undefined;
}

interface Row extends Checked {
  readonly index: number;
}

export function CheckedList({ checked, known, onRemove }: CheckedListProps) {
  if (checked.length === 0) return null;
  const rows = checked.map((each, index) => ({ ...each, index }));
  const render = (row: Row) => (
    <CheckedRow row={row} note={known?.get(row.name) ?? row.note} onRemove={onRemove} />
  );
  return (
    <div className="card flush" data-preflight={checked.length}>
      {checked.length <= plainMax ? (
        <ul>
          {rows.map((row) => (
            <li key={row.index}>{render(row)}</li>
          ))}
        </ul>
      ) : (
        groupsOf(rows).map(([group, members]) => (
          <details key={group} data-group={group}>
            <summary className="entry">
              <Badge tone={badges[members[0].verdict].tone}>{`${members.length} ${group}`}</Badge>
              <span className="soft">
                {members[0].verdict === 'ready' ? '' : 'will be skipped'}
              </span>
            </summary>
            <div className="group-rows" style={{ height: Math.min(members.length, 8) * rowHeight }}>
              <LongList
                label={`${members.length} ${group}`}
                rows={members}
                rowHeight={rowHeight}
                keyOf={({ index }) => index}
                render={render}
              />
            </div>
          </details>
        ))
      )}
    </div>
  );
}

/** What needs attention comes first. */
function groupsOf(rows: readonly Row[]): (readonly [string, readonly [Row, ...Row[]]])[] {
  const groups = new Map<string, [Row, ...Row[]]>();
  for (const row of rows) {
    const members = groups.get(row.group);
    if (members) members.push(row);
    else groups.set(row.group, [row]);
  }
  const rank = ([first]: readonly [Row, ...Row[]]): number => order.indexOf(first.verdict);
  return [...groups].sort(([, one], [, other]) => rank(one) - rank(other));
}

interface CheckedRowProps {
  readonly row: Row;
  readonly note: string;
  readonly onRemove: CheckedListProps['onRemove'];
}

function CheckedRow({ row: { name, verdict, index }, note, onRemove }: CheckedRowProps) {
  return (
    <div className="entry">
      <Badge tone={badges[verdict].tone}>{badges[verdict].name}</Badge>
      <span className="grow cut" title={name}>
        {name}
      </span>
      <span className="soft">{note}</span>
      {onRemove && (
        <button type="button" className="button quiet" onClick={() => onRemove(index)}>
          Remove
        </button>
      )}
    </div>
  );
}
