/** A list of any length, of which only the rows that are seen are in the page. `j` and `k` move. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useKeys } from './keys.ts';

export interface LongListProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly rowHeight: number;
  readonly keyOf: (row: Row) => string | number;
  readonly render: (row: Row) => ReactNode;
  /** Called when the end comes near, so that more can be read. */
  readonly onEnd?: (() => void) | undefined;
}

const aheadRows = 12;

export function LongList<Row>(props: LongListProps<Row>) {
  const { label, rows, rowHeight, keyOf, render, onEnd } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState(-1);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: 8,
  });
  const seen = virtual.getVirtualItems();
  const last = seen.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - aheadRows) onEnd?.();
  }, [last, rows.length, onEnd]);
  const choose = (index: number): void => {
    const place = Math.min(Math.max(index, 0), rows.length - 1);
    setChosen(place);
    virtual.scrollToIndex(place);
    requestAnimationFrame(() => {
      const row = frame.current?.querySelector(`[data-index="${place}"]`);
      row?.querySelector<HTMLElement>('a, button')?.focus({ preventScroll: true });
    });
  };
  useKeys({ j: () => choose(chosen + 1), k: () => choose(chosen - 1) });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by key
    <section ref={frame} className="list fill" aria-label={label} tabIndex={0}>
      <ul className="list-inner" style={{ height: virtual.getTotalSize() }}>
        {seen.map(({ index, start, size }) => {
          const row = rows[index];
          if (row === undefined) return null;
          const style = { transform: `translateY(${start}px)`, height: size };
          return (
            <li key={keyOf(row)} className="list-row" data-index={index} style={style}>
              {render(row)}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
