/** `pawl extract`: the text of a source, as it would be indexed. */
import type { Extracted } from '../pipeline/extract/extract.ts';
import { keptShareOf, partlyReadBelow } from '../pipeline/extract/parsed.ts';
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
  options: {
    dropped: { type: 'boolean', meaning: 'also show what was left out of a web page, and why' },
  },
  examples: [
    'pawl extract https://example.com/',
    "pawl extract 'docs/**/*.html' --json",
    'pawl extract page.html --dropped',
    'curl -s https://example.com/ | pawl extract -',
  ],
  run: (call) => {
    const withDropped = call.flags.dropped === true;
    return previewSources(call, (source, found) => show(call, source, found), { withDropped });
  },
};

function show({ terminal, isJson }: Call, source: string, found: Extracted): void {
  const { title, language, text: markdown, meta } = found;
  const text = plainText(markdown);
  if (isJson) {
    const { dropped } = found;
    const warnings = isPartlyRead(found) ? [partlyRead(found)] : [];
    const shown = { source, title, language, text, markdown, meta, kept_share: keptShareOf(meta) };
    terminal.print(JSON.stringify({ ...shown, warnings, ...(dropped && { dropped }) }));
    return;
  }
  printHead(terminal, source, found);
  for (const line of markdown.split('\n')) terminal.print(printable(line));
  terminal.print();
  for (const { reason, text: left } of found.dropped ?? []) {
    const said = terminal.paint('dim', `dropped (${reason.replaceAll('_', ' ')})`);
    terminal.print(`${said}  ${printable(left)}`);
  }
  if (isPartlyRead(found)) terminal.tell(`${printable(source)}: ${partlyRead(found)}`);
}

function isPartlyRead({ meta }: Extracted): boolean {
  return keptShareOf(meta) < partlyReadBelow;
}

function partlyRead({ meta }: Extracted): string {
  const percent = Math.round(100 * keptShareOf(meta));
  return `partly read: ${percent} % of its text was kept. --dropped shows the rest.`;
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
  const { page_starts: _, ...shown } = meta;
  const told = Object.entries(shown).map(([name, value]) => `${name} ${value}`);
  const facts = [count(words, 'word'), ...(language === null ? [] : [language]), ...told];
  terminal.print(terminal.paint('dim', cut(printable(facts.join(' · ')), columns)));
  terminal.print();
}
