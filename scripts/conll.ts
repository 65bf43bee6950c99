/** Reads labelled text in CoNLL format, a token and its label per line, as running text. */
import { readFileSync } from 'node:fs';

export interface Labelled {
  readonly text: string;
  readonly spans: readonly LabelledSpan[];
  readonly sentences: number;
}

export interface LabelledSpan {
  readonly start: number;
  end: number;
  readonly kind: string;
}

const kinds: Readonly<Record<string, string>> = {
  PER: 'person',
  ORG: 'organization',
  LOC: 'location',
};
const leansLeft = /^(?:[,.;:!?)%]|'s|n't|'re|'ve|'ll|'d|')$/;

export function readConll(path: string): Labelled[] {
  return readFileSync(path, 'utf8')
    .split(/^-DOCSTART-.*$/m)
    .map(readDocument)
    .filter(({ text }) => text !== '');
}

function readDocument(lines: string): Labelled {
  const spans: LabelledSpan[] = [];
  let [text, sentences, isGlued, isQuoted] = ['', 0, true, false];
  let open: LabelledSpan | undefined;
  for (const line of lines.split('\n')) {
    const [word, ...columns] = line.trim().split(/\s+/);
    if (!word) {
      if (text !== '' && !text.endsWith(' ')) {
        text += ' ';
        sentences += 1;
      }
      [open, isGlued] = [undefined, true];
      continue;
    }
    const token = word === '``' || word === "''" ? '"' : word;
    const isQuote = token === '"';
    if (!isGlued && !leansLeft.test(token) && !(isQuote && isQuoted)) text += ' ';
    if (isQuote) isQuoted = !isQuoted;
    isGlued = token === '(' || (isQuote && isQuoted);
    const label = columns.at(-1) ?? 'O';
    const kind = label === 'O' ? undefined : (kinds[label.slice(2)] ?? 'name');
    const start = text.length;
    text += token;
    if (open && open.kind === kind && !label.startsWith('B-')) open.end = text.length;
    else {
      open = kind === undefined ? undefined : { start, end: text.length, kind };
      if (open) spans.push(open);
    }
  }
  return { text, spans, sentences };
}
