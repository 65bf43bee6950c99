/** The steps of a document in order, with parallel steps side by side. */

import type { Item } from '../../src/contract/schema/schema.ts';
import { stepTable } from '../../src/kernel/lifecycle/item.ts';
import { place } from '../../src/kernel/lifecycle/item-wait.ts';
import { words } from './wording.ts';

/** Steps with the same predecessors run in parallel. */
export function columnsOf(): string[][] {
  const columns = new Map<string, string[]>();
  for (const { step, after } of stepTable) {
    const key = after.join();
    columns.set(key, [...(columns.get(key) ?? []), step]);
  }
  return [...columns.values()];
}

/** It can run now: all its predecessors are done. */
function isReady(step: string, reached: readonly string[]): boolean {
  const row = stepTable.find((each) => each.step === step);
  return row?.after.every((before) => reached.includes(before)) ?? false;
}

export function StepStrip({ item }: { item: Item }) {
  const { reached, step, working, error } = item;
  const isAtWork = item.waits_on === place.worker;
  const classOf = (name: string): string => {
    if (reached.includes(name)) return 'reached';
    if (step === place.failed && error?.step === name) return 'failed';
    if (isAtWork && (working?.step === name || isReady(name, reached))) return 'now';
    return '';
  };
  return (
    <span
      className="steps"
      role="img"
      aria-label={`${reached.length} steps done, now ${words(step)}`}
    >
      {columnsOf().map((column) => (
        <span key={column.join()} className="together">
          {column.map((name) => (
            <i key={name} className={classOf(name)} title={words(name)} />
          ))}
        </span>
      ))}
    </span>
  );
}
