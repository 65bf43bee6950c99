/** Tells addresses from a text that is to be added itself. */
import { type Checked, checkLines } from './preflight.ts';

export type Reading = 'addresses' | 'text';

const address = /^(?:https?:\/\/|www\.|[\w-]+(?:\.[\w-]+)+(?:[:/?#]|$))\S*$/i;

/** Addresses, if most lines are. One word without a dot is none. */
export function readingOf(text: string): Reading {
  const lines = linesOf(text);
  const addresses = lines.filter((line) => address.test(line)).length;
  return addresses * 2 >= lines.length ? 'addresses' : 'text';
}

export interface Pasted {
  readonly reading: Reading;
  /** Each address with its check. */
  readonly checked: readonly Checked[];
}

export function readPasted(text: string, chosen: Reading | undefined): Pasted {
  if (text.trim() === '') return { reading: 'addresses', checked: [] };
  const reading = chosen ?? readingOf(text);
  return { reading, checked: reading === 'addresses' ? checkLines(text) : [] };
}

const titleCharactersMax = 80;

/** The first line, as the title of a document. */
export function titleOf(text: string): string {
  const [first = ''] = linesOf(text);
  return first.replace(/^#+\s*/, '').slice(0, titleCharactersMax);
}

/** A text is added as a file. Its name identifies it: the same title replaces the text. */
export function fileOfText(text: string, title: string): File {
  const name = title.trim().replace(/[/\\\p{Cc}]+/gu, ' ') || 'Text';
  return new File([text], `${name}.md`, { type: 'text/markdown' });
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
