/**
 * Entities with a fixed form: mails, addresses, dates, sums, percentages and phone numbers. No
 * pattern has an unbounded repetition or can start within a word, so any text is read in linear
 * time.
 */
import type { EntityKind } from './extraction.ts';

export interface PatternMatch {
  readonly kind: EntityKind;
  readonly start: number;
  readonly end: number;
  /** One name for all notations, if it can be decided. */
  readonly name: string;
}

const months =
  'January February March April May June July August September October November December'
    .split(' ')
    .map((name) => name.toLowerCase());
const month =
  '(?:Jan(?:uary|\\.)?|Feb(?:ruary|\\.)?|Mar(?:ch|\\.)?|Apr(?:il|\\.)?|May|June?|July?|' +
  'Aug(?:ust|\\.)?|Sept?(?:ember|\\.)?|Oct(?:ober|\\.)?|Nov(?:ember|\\.)?|Dec(?:ember|\\.)?)';
const day = '(?:0?[1-9]|[12]\\d|3[01])(?:st|nd|rd|th)?';
const year = '(?:1[0-9]|20)\\d\\d';
const yearOpener = '(?:[Ii]n|[Ss]ince|[Uu]ntil|[Dd]uring|[Bb]y|[Ff]rom|[Aa]fter|[Bb]efore)';
const amount = '\\d{1,3}(?:,\\d{3}){1,6}(?:\\.\\d{1,2})?|\\d{1,15}(?:\\.\\d{1,4})?';
const scale = '(?:\\s?(?:thousand|million|billion|trillion|bn|m|k)\\b)?';

interface Pattern {
  readonly kind: EntityKind;
  /** A text without any of these characters need not be searched. */
  readonly sign: RegExp;
  readonly form: RegExp;
  /** Undefined if it only looks like one. */
  readonly nameOf: (groups: readonly (string | undefined)[]) => string | undefined;
}

const patterns: readonly Pattern[] = [
  {
    kind: 'url',
    sign: /:\/\/|www\./,
    form: /(?<![\p{L}\p{N}])(?:https?:\/\/|www\.)[^\s<>"')\]]{1,500}/gu,
    nameOf: ([whole = '']) => whole.replace(/[.,;:!?*_`]{1,20}$/, ''),
  },
  {
    kind: 'email',
    sign: /@/,
    form: /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g,
    nameOf: ([whole]) => whole?.toLowerCase(),
  },
  {
    kind: 'date',
    sign: /\d-\d\d-/,
    form: /(?<![\w.-])(\d{4})-(\d{2})-(\d{2})(?![\w-])/g,
    nameOf: ([, y, m, d]) => dateOf(y, m, d),
  },
  {
    kind: 'date',
    sign: /[A-Z][a-z]{2}.{0,10} \d{4}/,
    form: new RegExp(`(?<![\\w.-])(${day}) (?:of )?(${month}),? (${year})(?!\\w)`, 'g'),
    nameOf: ([, d, m, y]) => dateOf(y, m, d),
  },
  {
    kind: 'date',
    sign: /[A-Z][a-z]{2}.{0,10} \d/,
    form: new RegExp(`(?<!\\w)(${month}) (${day}),? (${year})(?!\\w)`, 'g'),
    nameOf: ([, m, d, y]) => dateOf(y, m, d),
  },
  {
    kind: 'date',
    sign: /[A-Z][a-z]{2}.{0,10} \d{4}/,
    form: new RegExp(`(?<!\\w)(${month}),? (?:of )?(${year})(?!\\w)`, 'g'),
    nameOf: ([, m, y]) => dateOf(y, m),
  },
  {
    kind: 'date',
    sign: /\d[./]\d/,
    form: /(?<![\w./-])(\d{1,2})[./](\d{1,2})[./]((?:1\d|20)\d\d)(?![\w/])/g,
    // Which of the two is the month is known only if the other cannot be.
    nameOf: ([whole, one, two, y]) =>
      Number(one) > 12 || one === two
        ? dateOf(y, two, one)
        : Number(two) > 12
          ? dateOf(y, one, two)
          : whole,
  },
  {
    kind: 'date',
    sign: / \d{4}/,
    form: new RegExp(`(?<=\\b${yearOpener} )${year}(?![\\w,.]\\d|\\w|-)`, 'g'),
    nameOf: ([whole]) => whole,
  },
  {
    kind: 'money',
    sign: /[$€£¥]/,
    form: new RegExp(`(?<![\\w$€£¥])(?:US)?([$€£¥])\\s?(${amount})(${scale})`, 'g'),
    nameOf: ([, sign, value, unit]) => sumOf(currencies[sign ?? ''], value, unit),
  },
  {
    kind: 'money',
    sign: /USD|EUR|GBP|JPY|CHF|dollars|euros|pounds|yen/,
    form: new RegExp(
      `(?<![\\w.,])(${amount})(${scale})\\s(USD|EUR|GBP|JPY|CHF|dollars|euros|pounds|yen)(?!\\w)`,
      'g',
    ),
    nameOf: ([, value, unit, word]) => sumOf(currencies[word ?? ''] ?? word, value, unit),
  },
  {
    kind: 'percentage',
    sign: /%|per ?cent/,
    form: /(?<![\w.,])(\d{1,9}(?:\.\d{1,6})?)\s?(?:%|per ?cent\b)/g,
    nameOf: ([, value]) => `${Number(value)}%`,
  },
  {
    kind: 'phone',
    sign: /\d{2}[ .-]\d{2}|\) ?\d/,
    form: new RegExp(
      `(?<![\\w+])(?:\\+\\d{1,3}[ .-]?)?(?:\\(\\d{1,5}\\)[ .-]?)?` +
        `\\d{2,5}(?:[ .-]\\d{2,5}){1,5}(?!\\w|[ .-]?\\d)`,
      'g',
    ),
    nameOf: ([whole = '']) => phoneOf(whole),
  },
];

const currencies: Readonly<Record<string, string>> = {
  $: 'USD',
  '€': 'EUR',
  '£': 'GBP',
  '¥': 'JPY',
  dollars: 'USD',
  euros: 'EUR',
  pounds: 'GBP',
  yen: 'JPY',
};
const scales: Readonly<Record<string, number>> = {
  '': 0,
  thousand: 3,
  k: 3,
  million: 6,
  m: 6,
  billion: 9,
  bn: 9,
  trillion: 12,
};

/** All patterns in a part of the text, in order, without overlaps. */
export function patternsIn(text: string, from: number, to: number): PatternMatch[] {
  const part = text.slice(from, to);
  if (!/[\d@]|:\/\/|www\./.test(part)) return [];
  const found: PatternMatch[] = [];
  for (const { kind, sign, form, nameOf } of patterns) {
    if (!sign.test(part)) continue;
    for (const match of part.matchAll(form)) {
      const name = nameOf(match);
      if (name === undefined) continue;
      const length = kind === 'url' ? name.length : match[0].length;
      const start = from + match.index;
      found.push({ kind, start, end: start + length, name });
    }
  }
  found.sort((one, other) => one.start - other.start || other.end - one.end);
  let end = -1;
  return found.filter((one) => {
    const isFree = one.start >= end;
    if (isFree) end = one.end;
    return isFree;
  });
}

function dateOf(y: string | undefined, m: string | undefined, d?: string): string | undefined {
  const byName = months.findIndex((name) => name.startsWith((m ?? '').slice(0, 3).toLowerCase()));
  const monthNumber = /^\d/.test(m ?? '') ? Number(m) : byName + 1;
  if (monthNumber < 1 || monthNumber > 12) return undefined;
  const start = `${y}-${String(monthNumber).padStart(2, '0')}`;
  if (d === undefined) return start;
  const dayNumber = Number.parseInt(d, 10);
  const isDay =
    new Date(Date.UTC(Number(y), monthNumber - 1, dayNumber)).getUTCDate() === dayNumber;
  return isDay && dayNumber > 0 ? `${start}-${String(dayNumber).padStart(2, '0')}` : undefined;
}

/** As text, because binary fractions would change the sum. */
function sumOf(currency = '', value = '', unit = ''): string {
  const [whole = '', fraction = ''] = value.replaceAll(',', '').split('.');
  const zeros = scales[unit.trim().toLowerCase()] ?? 0;
  const digits = fraction.padEnd(zeros, '0');
  const integer = `${whole}${digits.slice(0, zeros)}`.replace(/^0{1,20}(?=\d)/, '');
  const rest = digits.slice(zeros).replace(/0{1,20}$/, '');
  return `${currency} ${integer}${rest ? `.${rest}` : ''}`;
}

/** Digits are a phone number only with a plus, brackets or groups. */
function phoneOf(whole: string): string | undefined {
  const digits = whole.replace(/\D/g, '');
  const isMarked = whole.startsWith('+') || whole.startsWith('(');
  const isGrouped = /^\d{3}[ .-]\d{3}[ .-]\d{4}$/.test(whole);
  if (digits.length < 7 || digits.length > 15 || !(isMarked || isGrouped)) return undefined;
  return whole.startsWith('+') ? `+${digits}` : digits;
}
