/** How large a page would be as a tree, told before one is built. */
import { scan } from './scan.ts';

export interface Measure {
  readonly depth: number;
  readonly elements: number;
  readonly breaks: number;
}

const leaves = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);
/** A parser closes these by itself when the next one opens. */
const selfEnding = new Set('p li dt dd tr td th option optgroup thead tbody tfoot'.split(' '));

export function measure(html: string): Measure {
  let open = 0;
  let depth = 0;
  let elements = 0;
  let breaks = 0;
  scan(html, {
    onText: () => {},
    onTag: ({ name, isClosing }) => {
      if (name === 'br') breaks += 1;
      if (!isClosing) elements += 1;
      if (leaves.has(name) || selfEnding.has(name)) return;
      open = Math.max(0, open + (isClosing ? -1 : 1));
      depth = Math.max(depth, open);
    },
  });
  return { depth, elements, breaks };
}
