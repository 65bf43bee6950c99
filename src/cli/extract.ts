/** `pawl extract`: the text of a source, as it would be indexed. */
import type { Extracted } from '../pipeline/extract/extract.ts';
import { plainText } from '../pipeline/extract/plain-text.ts';
import type { Call, Command } from './command.ts';
import { previewSources } from './preview.ts';
import type { Terminal } from './terminal.ts';
import { count, cut, cutPath, printable } from './wording.ts';

export const extract: Command = {
  name: 'extract',
  isLocal: true,
  summary: 'show the text of URLs, files, folders, globs or stdin, without storing it',
  usage: ['extract SOURCE…'],
  examples: [
    'pawl extract https://example.com/',
    "pawl extract 'docs/**/*.html' --json",
    'curl -s https://example.com/ | pawl extract -',
  ],
  run: (call) => previewSources(call, (source, found) => show(call, source, found)),
};

function show({ terminal, isJson }: Call, source: string, found: Extracted): void {
  const { title, language, text: markdown, meta } = found;
  const text = plainText(markdown);
  if (isJson) {
    terminal.print(JSON.stringify({ source, title, language, text, markdown, meta }));
    return;
  }
  printHead(terminal, source, found);
  for (const line of markdown.split('\n')) terminal.print(printable(line));
  terminal.print();
}

/** The title, where it came from, and what it says of itself. */
export function printHead(
  terminal: Terminal,
  source: string,
  { title, language, text, meta }: Extracted,
): void {
  const columns = terminal.columns();
  if (title !== null) terminal.print(terminal.paint('bold', cut(printable(title), columns)));
  terminal.print(terminal.paint('cyan', cutPath(printable(source), columns)));
  const words = text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
  const told = Object.entries(meta).map(([name, value]) => `${name} ${value}`);
  const facts = [count(words, 'word'), ...(language === null ? [] : [language]), ...told];
  terminal.print(terminal.paint('dim', cut(printable(facts.join(' · ')), columns)));
  terminal.print();
}
