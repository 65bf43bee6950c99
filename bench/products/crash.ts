/** What a crash and the run after it left behind, compared with a run without a crash. */
import type { Bill } from './embedder.ts';
import type { StoredText } from './product.ts';

/** Texts that were paid more often than a run without a crash pays them. */
export function textsAgain(whole: Bill, total: Bill): number {
  let again = 0;
  for (const [text, times] of total.timesPaid) {
    again += Math.max(0, times - (whole.timesPaid.get(text) ?? 0));
  }
  return again;
}

/** Pages that lack a text of the run without a crash, and pages that have one more often. */
export function differences(
  whole: readonly StoredText[],
  resumed: readonly StoredText[],
): { lost: number; doubled: number } {
  const [before, after] = [countsOf(whole), countsOf(resumed)];
  const lost = new Set<string>();
  const doubled = new Set<string>();
  for (const [key, { page, times }] of before) {
    if ((after.get(key)?.times ?? 0) < times) lost.add(page);
  }
  for (const [key, { page, times }] of after) {
    if (times > (before.get(key)?.times ?? 0)) doubled.add(page);
  }
  return { lost: lost.size, doubled: doubled.size };
}

function countsOf(stored: readonly StoredText[]): Map<string, { page: string; times: number }> {
  const counts = new Map<string, { page: string; times: number }>();
  for (const { page, text } of stored) {
    const key = `${page}\n${text}`;
    counts.set(key, { page, times: (counts.get(key)?.times ?? 0) + 1 });
  }
  return counts;
}
