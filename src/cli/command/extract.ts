/** `pawl extract`: the text of a source, as it would be indexed. */
import { isPartlyRead } from '../../kernel/text/kept-share.ts';
import type { Extracted } from '../../pipeline/extract/extract.ts';
import { keptShareOf, warningsOf } from '../../pipeline/extract/parsed.ts';
import { plainText } from '../../pipeline/extract/plain-text.ts';
import type { Call, Command } from '../command.ts';
import type { Terminal } from '../view/terminal.ts';
import { count, cut, cutPath, percent, printable } from '../view/wording.ts';
import { previewSources } from './preview.ts';

export const extract: Command = {
  name: 'extract',
  isLocal: true,
  summary: 'show the text of URLs, files, folders, globs or stdin, without storing it',
  usage: ['extract SOURCE…'],
  options: {
    dropped: { type: 'boolean', meaning: 'also show what was dropped, and why' },
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
    const measured = { kept_share: keptShareOf(meta), warnings: warningsOf(meta) };
    const shown = { source, title, language, text, markdown, meta, ...measured };
    terminal.print(JSON.stringify({ ...shown, ...(dropped && { dropped }) }));
    return;
  }
  printHead(terminal, source, found);
  for (const line of markdown.split('\n')) terminal.print(printable(line));
  terminal.print();
  for (const { reason, text: left } of found.dropped ?? []) {
    const said = terminal.paint('dim', `dropped (${reason.replaceAll('_', ' ')})`);
    terminal.print(`${said}  ${printable(left)}`);
  }
  for (const warning of warningsOf(meta)) terminal.tell(`${printable(source)}: ${warning}`);
  if (isPartlyRead(keptShareOf(meta))) terminal.tell(`${printable(source)}: ${partlyRead(found)}`);
}

function partlyRead({ meta }: Extracted): string {
  const kept = percent(keptShareOf(meta));
  return `partly read: ${kept} of the text was kept. --dropped lists the rest.`;
}

/** The title, the source and the metadata. */
export function printHead(
  terminal: Terminal,
  source: string,
  { title, language, text, meta }: Extracted,
): void {
  const columns = terminal.columns();
  if (title !== null) terminal.print(terminal.paint('bold', cut(printable(title), columns)));
  terminal.print(terminal.paint('cyan', cutPath(printable(source), columns)));
  const words = text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
  const attributes = Object.entries(meta)
    .filter(([name]) => name !== 'warnings' && name !== 'page_starts')
    .map(([name, value]) => `${name} ${value}`);
  const facts = [count(words, 'word'), ...(language === null ? [] : [language]), ...attributes];
  terminal.print(terminal.paint('dim', cut(printable(facts.join(' · ')), columns)));
  terminal.print();
}
