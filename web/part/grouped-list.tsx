/** Many rows in groups, each a virtual list. Few rows are shown as they are. */
import type { ReactNode } from 'react';
import { Badge, type Tone } from './basic.tsx';
import { LongList } from './long-list.tsx';
import { count } from './wording.ts';

export interface Group {
  readonly name: string;
  readonly tone: Tone;
  /** Groups with a low rank come first. */
  readonly rank: number;
  readonly note?: string | undefined;
  readonly isOpen?: boolean | undefined;
}

export interface GroupedListProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly rowHeight: number;
  readonly groupOf: (row: Row) => Group;
  readonly keyOf: (row: Row) => string | number;
  readonly render: (row: Row) => ReactNode;
}

/** With more rows than this, they are grouped. */
const plainMax = 20;
const rowsShown = 8;

export function GroupedList<Row>(props: GroupedListProps<Row>) {
  const { label, rows, rowHeight, groupOf, keyOf, render } = props;
  const groups = [...Map.groupBy(rows, (row) => groupOf(row).name).values()]
    .map((members) => ({ members, ...groupOf(members[0] as Row) }))
    .sort((one, other) => one.rank - other.rank);
  if (rows.length <= plainMax) {
    return (
      <ul aria-label={label}>
        {groups.flatMap(({ members }) =>
          members.map((row) => <li key={keyOf(row)}>{render(row)}</li>),
        )}
      </ul>
    );
  }
  return groups.map(({ name, tone, note, isOpen, members }) => (
    <details key={name} data-group={name} open={isOpen}>
      <summary className="entry">
        <Badge tone={tone}>{`${count(members.length)} ${name}`}</Badge>
        <span className="soft">{note}</span>
      </summary>
      <div
        className="group-rows"
        style={{ height: Math.min(members.length, rowsShown) * rowHeight }}
      >
        <LongList
          label={`${label}: ${name}`}
          rows={members}
          rowHeight={rowHeight}
          keyOf={keyOf}
          render={render}
        />
      </div>
    </details>
  ));
}
