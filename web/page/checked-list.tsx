/** The check result of each source, before anything is sent. */
import { Badge, type Tone } from '../part/basic.tsx';
import { type Group, GroupedList } from '../part/grouped-list.tsx';
import { count } from '../part/wording.ts';
import type { Checked } from './preflight.ts';

const badges: Readonly<Record<Checked['verdict'], { tone: Tone; name: string }>> = {
  ready: { tone: 'ok', name: 'ready' },
  refused: { tone: 'bad', name: 'skipped' },
  twice: { tone: 'plain', name: 'skipped' },
};

const rowHeight = 44;
const order: readonly Checked['verdict'][] = ['refused', 'twice', 'ready'];

export interface CheckedListProps {
  readonly checked: readonly Checked[];
  /** What the service already knows about it. */
  readonly known?: ReadonlyMap<string, string> | undefined;
  readonly onRemove: (index: number) => void;
  readonly onRemoveAll: () => void;
}

interface Row extends Checked {
  readonly index: number;
}

export function CheckedList({ checked, known, onRemove, onRemoveAll }: CheckedListProps) {
  if (checked.length === 0) return null;
  const rows = checked.map((each, index): Row => ({ ...each, index }));
  return (
    <section className="card flush" aria-label="Sources to add" data-preflight={checked.length}>
      <div className="row spread summary">
        <strong>{summaryOf(checked)}</strong>
        <button type="button" className="button quiet" onClick={onRemoveAll}>
          Remove all
        </button>
      </div>
      <GroupedList
        label="Sources"
        rows={rows}
        rowHeight={rowHeight}
        groupOf={groupOf}
        keyOf={({ index }) => index}
        render={(row) => (
          <CheckedRow
            row={row}
            note={(row.note === 'ready' ? known?.get(row.name) : undefined) ?? row.note}
            onRemove={onRemove}
          />
        )}
      />
    </section>
  );
}

function groupOf({ group, verdict }: Row): Group {
  const rank = order.indexOf(verdict);
  const { tone } = badges[verdict];
  if (verdict !== 'ready') return { name: group, tone, rank, note: 'will be skipped' };
  if (group === 'ready') return { name: group, tone, rank, note: undefined };
  return { name: group, tone: 'warn', rank, note: 'will be tried: the service decides' };
}

/** Such as "412 ready · 51 same content · 3 too large". */
function summaryOf(checked: readonly Checked[]): string {
  return [...Map.groupBy(checked, ({ group }) => group)]
    .sort(([, [one]], [, [other]]) => rankOf(other) - rankOf(one))
    .map(([group, members]) => `${count(members.length)} ${group}`)
    .join(' · ');
}

const rankOf = (checked: Checked | undefined): number =>
  checked ? order.indexOf(checked.verdict) : 0;

interface CheckedRowProps {
  readonly row: Row;
  readonly note: string;
  readonly onRemove: CheckedListProps['onRemove'];
}

function CheckedRow({ row: { name, verdict, index }, note, onRemove }: CheckedRowProps) {
  return (
    <div className="entry checked">
      <Badge tone={badges[verdict].tone}>{badges[verdict].name}</Badge>
      <span className="grow cut" title={name} dir="auto">
        {name}
      </span>
      <span className="soft note">{note}</span>
      <button type="button" className="button quiet" onClick={() => onRemove(index)}>
        Remove
      </button>
    </div>
  );
}
