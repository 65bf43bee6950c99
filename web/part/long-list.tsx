/** A virtual list of any length: only visible rows are rendered. `j` and `k` move. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useKeys } from './keys.ts';

export interface LongListProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly rowHeight: number;
  readonly keyOf: (row: Row) => string | number;
  readonly render: (row: Row) => ReactNode;
  /** Called near the end of the list, to load more. */
  readonly onEnd?: (() => void) | undefined;
}

const aheadRows = 12;

export function LongList<Row>(props: LongListProps<Row>) {
  const { label, rows, rowHeight, keyOf, render, onEnd } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<string | number>();
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
  const focus = (place: number): boolean => {
    const row = frame.current?.querySelector(`[data-index="${place}"]`);
    const target = row?.querySelector<HTMLElement>('a, button');
    target?.focus({ preventScroll: true });
    return target !== null && target !== undefined;
  };
  const move = (step: number): void => {
    // Selected by key, so that new rows on top do not change the selection.
    const now = rows.findIndex((row) => keyOf(row) === chosen);
    const place = Math.min(Math.max(now + step, 0), rows.length - 1);
    const row = rows[place];
    if (row === undefined) return;
    setChosen(keyOf(row));
    virtual.scrollToIndex(place);
    // A rendered row gets the focus before the next key is handled.
    if (!focus(place)) requestAnimationFrame(() => focus(place));
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  // With its border.
  const basis = { flexBasis: virtual.getTotalSize() + 1 };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by key
    <section ref={frame} className="list fill" style={basis} aria-label={label} tabIndex={0}>
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
