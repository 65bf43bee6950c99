/** Measures how large a page would be as a tree, before one is built. */
import { scan } from '../page/scan.ts';

export interface Measure {
  readonly depth: number;
  readonly elements: number;
  readonly breaks: number;
  /** Text is split at tags and entities. */
  readonly pieces: number;
  readonly longestTag: number;
}

const leaves = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);
/** A parser closes these implicitly when the next one opens. */
const selfEnding = new Set('p li dt dd tr td th option optgroup thead tbody tfoot'.split(' '));

/** In a drawing `<path/>` is closed; in HTML inside a drawing, the slash has no meaning. */
const drawings = new Set(['svg', 'math']);
const htmlAgain = new Set('foreignobject desc title mi mo mn ms mtext annotation-xml'.split(' '));

export function measure(html: string): Measure {
  let open = 0;
  let depth = 0;
  let elements = 0;
  let breaks = 0;
  let pieces = 0;
  let isDrawing = false;
  let longestTag = 0;
  scan(html, {
    onText: (text) => {
      pieces += 1 + countEntities(text);
    },
    onTag: ({ name, isClosing, isSelfClosing, start, end }) => {
      if (drawings.has(name)) isDrawing = !isClosing;
      else if (htmlAgain.has(name)) isDrawing = false;
      longestTag = Math.max(longestTag, end - start);
      if (name === 'br') breaks += 1;
      if (!isClosing) elements += 1;
      if (leaves.has(name) || selfEnding.has(name)) return;
      if (isDrawing && isSelfClosing) return;
      open = Math.max(0, open + (isClosing ? -1 : 1));
      depth = Math.max(depth, open);
    },
  });
  return { depth, elements, breaks, pieces, longestTag };
}

function countEntities(text: string): number {
  let count = 0;
  for (let place = text.indexOf('&'); place >= 0; place = text.indexOf('&', place + 1)) count += 1;
  return count;
}
