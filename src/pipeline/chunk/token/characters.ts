/** Classifies the characters of a text as the tokenizer's pattern does. */
export interface Characters {
  readonly text: string;
  readonly codes: Uint16Array;
  /** One per code unit; both halves of a surrogate pair have the kind of the character. */
  readonly kinds: Uint8Array;
}

export const kind = {
  none: 0,
  letter: 1,
  digit: 2,
  newline: 3,
  space: 4,
  /** Anything else. From here on, signs only. */
  sign: 5,
  /** Two code units. */
  pairedSign: 6,
} as const;

/** A cache; the kind of a character never changes. */
const known = new Uint8Array(0x10000);

export function charactersOf(text: string): Characters {
  const bytes = Buffer.allocUnsafeSlow(text.length * 2);
  bytes.write(text, 'utf16le');
  const codes = new Uint16Array(bytes.buffer);
  const kinds = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place++) {
    const code = codes[place] as number;
    const isPair = (code & 0xfc00) === 0xd800 && widthAt(text, place) === 2;
    if (!isPair) {
      kinds[place] = known[code] || learn(code);
      continue;
    }
    const found = kindOf(text.slice(place, place + 2));
    kinds.fill(found === kind.sign ? kind.pairedSign : found, place, place + 2);
    place += 1;
  }
  return { text, codes, kinds };
}

/** The number of code units of the character at this position. */
export function widthAt(text: string, place: number): 1 | 2 {
  return (text.codePointAt(place) ?? 0) > 0xffff ? 2 : 1;
}

function learn(code: number): number {
  const found = kindOf(String.fromCharCode(code));
  known[code] = found;
  return found;
}

const patterns: readonly [RegExp, number][] = [
  [/\p{L}/u, kind.letter],
  [/\p{N}/u, kind.digit],
  [/[\r\n]/, kind.newline],
  [/\s/u, kind.space],
];

function kindOf(character: string): number {
  return patterns.find(([pattern]) => pattern.test(character))?.[1] ?? kind.sign;
}
