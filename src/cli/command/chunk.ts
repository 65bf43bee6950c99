/** `pawl chunk`: the chunks of a source, as they would be indexed. */

import type { Extracted } from '../../pipeline/extract/extract.ts';
import { withPages } from '../../pipeline/page-starts.ts';
import { cutShape } from '../../service/view/serializer.ts';
import type { NewChunk } from '../../store/document/chunks.ts';
import type { Call, Command } from '../command.ts';
import type { Terminal } from '../view/terminal.ts';
import { count, number, printable } from '../view/wording.ts';
import { printHead } from './extract.ts';
import { previewSources } from './preview.ts';

export const chunk: Command = {
  name: 'chunk',
  isLocal: true,
  summary: 'show the chunks of URLs, files, folders, globs or stdin, without storing them',
  usage: ['chunk SOURCE…'],
  examples: ['pawl chunk handbook.md', 'pawl chunk docs --json'],
  run: async (call) => {
    const { realWorld } = await import('../../app/world.ts');
    const { TextThreads } = await import('../../pipeline/thread/text-threads.ts');
    // Chunks in worker threads, so that signals are handled while a long text is chunked.
    const texts = new TextThreads(realWorld());
    try {
      return await previewSources(call, async (source, found) => {
        const cut = await texts.cut(found.text, call.interrupt);
        const chunks = withPages(cut, found.meta);
        show(call, { source, found, chunks });
      });
    } finally {
      await texts.close();
    }
  },
};

interface Shown {
  readonly source: string;
  readonly found: Extracted;
  readonly chunks: readonly NewChunk[];
}

function show({ terminal, isJson }: Call, { source, found, chunks }: Shown): void {
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
  const { key, ordinal, heading, text, startOffset, endOffset, tokenCount, page } = chunk;
  const place = `${number(startOffset)}–${number(endOffset)}`;
  const onPage = page === undefined ? [] : [`page ${page}`];
  const facts = [place, ...onPage, count(tokenCount, 'token'), key].join(' · ');
  const path = heading === '' ? '' : `  ${terminal.paint('bold', printable(heading))}`;
  terminal.print(
    `${terminal.paint('cyan', `#${ordinal}`)}${path}  ${terminal.paint('dim', facts)}`,
  );
  for (const line of text.split('\n')) terminal.print(`  ${printable(line)}`.trimEnd());
  terminal.print();
}
