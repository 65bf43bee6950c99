/** A misspelt name is not longer: only the start of a longer text is compared. */
const comparedMax = 200;

/** The closest known name; if two are equally close, the one that was only cut short. */
export function closestOf(given: string, known: readonly string[]): string {
  const name = given.slice(0, comparedMax);
  let closest = '';
  let least = Number.POSITIVE_INFINITY;
  for (const other of known) {
    const far = distance(name, other) - (other.startsWith(name) ? 0.5 : 0);
    if (far >= least) continue;
    closest = other;
    least = far;
  }
  return closest;
}

/** The closest known name, unless it is so far that a typing error is unlikely. */
export function nearOf(name: string, known: readonly string[]): string | undefined {
  if (name.length > comparedMax) return undefined;
  const closest = closestOf(name, known);
  const isCut = name.length >= 2 && closest.startsWith(name);
  return isCut || distance(name, closest) <= Math.max(name.length / 3, 1) ? closest : undefined;
}

/** The edit distance: letters to add, remove or replace. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let line = 1; line <= one.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (one[line - 1] === other[column - 1] ? 0 : 1);
      next.push(Math.min((row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
