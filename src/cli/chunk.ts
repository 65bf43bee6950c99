/** `pawl chunk`: the pieces of a source, as they would be indexed. */
import { cutShape } from '../api/shape.ts';
import type { Extracted } from '../pipeline/extract/extract.ts';
import type { NewChunk } from '../store/chunks.ts';
import type { Call, Command } from './command.ts';
import { printHead } from './extract.ts';
import { previewSources } from './preview.ts';
import type { Terminal } from './terminal.ts';
import { count, number, printable } from './wording.ts';

export const chunk: Command = {
  name: 'chunk',
  isLocal: true,
  summary: 'show the pieces that URLs, files, folders, globs or stdin would be cut into',
  usage: ['chunk SOURCE…'],
  examples: ['pawl chunk handbook.md', 'pawl chunk docs --json'],
  run: async (call) => {
    // The tokenizer's vocabulary takes a moment to load, and other commands need none.
    const { splitText } = await import('../pipeline/chunk/split.ts');
    return previewSources(call, (source, found) => show(call, { source, found, splitText }));
  },
};

interface Shown {
  readonly source: string;
  readonly found: Extracted;
  readonly splitText: (text: string) => NewChunk[];
}

function show({ terminal, isJson }: Call, { source, found, splitText }: Shown): void {
  const chunks = splitText(found.text);
  if (isJson) {
    const { title, language } = found;
    terminal.print(JSON.stringify({ source, title, language, chunks: chunks.map(cutShape) }));
    return;
  }
  printHead(terminal, source, found);
  for (const each of chunks) printChunk(terminal, each);
  const tokens = chunks.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
  const total = `${count(chunks.length, 'chunk')} · ${count(tokens, 'token')}`;
  terminal.print(terminal.paint('dim', total));
  terminal.print();
}

function printChunk(terminal: Terminal, chunk: NewChunk): void {
  const { key, ordinal, heading, text, startOffset, endOffset, tokenCount } = chunk;
  const place = `${number(startOffset)}–${number(endOffset)}`;
  const facts = `${place} · ${count(tokenCount, 'token')} · ${key}`;
  const path = heading === '' ? '' : `  ${terminal.paint('bold', printable(heading))}`;
  terminal.print(
    `${terminal.paint('cyan', `#${ordinal}`)}${path}  ${terminal.paint('dim', facts)}`,
  );
  for (const line of text.split('\n')) terminal.print(`  ${printable(line)}`.trimEnd());
  terminal.print();
}
