/** RTF as a stream of groups, control words and text. One byte per character, unconverted. */
import { damaged } from '../refuse.ts';

export interface RtfHandler {
  readonly onOpen: () => void;
  readonly onClose: () => void;
  readonly onWord: (word: string, number: number | undefined) => void;
  /** A byte in the charset of the text, including plain letters. */
  readonly onBytes: (bytes: string) => void;
}

const wordPattern = /([a-zA-Z]{1,32})(-?\d{1,10})? ?/y;
const textPattern = /[^\\{}\r\n]+/y;

export function scanRtf(text: string, { onOpen, onClose, onWord, onBytes }: RtfHandler): void {
  let depth = 0;
  let place = 0;
  while (place < text.length) {
    const character = text[place] ?? '';
    if (character === '{') {
      depth += 1;
      onOpen();
      place += 1;
    } else if (character === '}') {
      depth -= 1;
      onClose();
      place += 1;
      // Content after the last group is not part of the document.
      if (depth <= 0) return;
    } else if (character === '\\') {
      place = readControl(text, place + 1, { onWord, onBytes });
    } else if (character === '\r' || character === '\n') {
      place += 1;
    } else {
      textPattern.lastIndex = place;
      const run = textPattern.exec(text)?.[0] ?? character;
      onBytes(run);
      place += run.length;
    }
  }
  throw damaged('the RTF is cut off');
}

function readControl(
  text: string,
  place: number,
  { onWord, onBytes }: Pick<RtfHandler, 'onWord' | 'onBytes'>,
): number {
  wordPattern.lastIndex = place;
  const found = wordPattern.exec(text);
  if (!found) {
    const symbol = text[place] ?? '';
    if (symbol !== "'") {
      onWord(symbol, undefined);
      return place + 1;
    }
    const byte = /^[0-9a-f]{2}/i.exec(text.slice(place + 1, place + 3))?.[0];
    if (byte !== undefined) onBytes(String.fromCharCode(Number.parseInt(byte, 16)));
    return place + 3;
  }
  const [whole, word = '', number] = found;
  const value = number === undefined ? undefined : Number(number);
  // Raw bytes follow, which may contain anything.
  if (word === 'bin') return place + whole.length + Math.max(value ?? 0, 0);
  onWord(word, value);
  return place + whole.length;
}
