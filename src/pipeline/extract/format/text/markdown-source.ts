/**
 * Converts Markdown for site generators to plain Markdown: without comments, heading anchors and
 * template tags, and with raw HTML converted. Code is unchanged. One pass over the lines.
 */
import { readHtmlDocument } from '../xml/html-document.ts';
import { plainShortcodes, readHighlight } from './shortcode.ts';

/** Line ends must be `\n`. */
export function readMarkdown(text: string, { isMdx = false } = {}): string {
  const out: string[] = [];
  const lines = linesOf(withoutComments(text));
  for (let at = 0; at < lines.all.length; ) {
    const line = lines.all[at] ?? '';
    const code = codeAt(lines.all, at);
    if (code) {
      // One by one: a long block has more lines than a call may have arguments.
      for (const each of code.lines) out.push(each);
      at = code.end;
      continue;
    }
    const html = htmlBlockAt(lines, at);
    if (html) {
      if (out.at(-1) !== '') out.push('');
      for (const each of html.lines) out.push(each);
      at = html.end;
      continue;
    }
    if (!(isMdx && mdxStatement.test(line))) out.push(readLine(line));
    at += 1;
  }
  return out.join('\n');
}

interface Passage {
  readonly lines: readonly string[];
  /** The first line after it. */
  readonly end: number;
}

const fence = /^ {0,3}(?:[-*+>] {1,3}){0,4}(`{3,}|~{3,})/;
const mdxStatement =
  /^(?:import\s.+\sfrom\s+['"]|import\s+['"]|export\s+(?:const|default|function)\s)/;

function codeAt(lines: readonly string[], at: number): Passage | undefined {
  const line = lines[at] ?? '';
  const mark = fence.exec(line)?.[1];
  if (mark !== undefined) {
    const end = endOf(lines, at, (each) => closes(each, mark));
    return { lines: lines.slice(at, end), end };
  }
  const highlight = readHighlight(line);
  if (!highlight) return undefined;
  const end = endOf(lines, at, (each) => highlight.closes.test(each));
  const code = lines.slice(at + 1, end - 1);
  const marks = '`'.repeat(code.some((each) => each.includes('```')) ? 8 : 3);
  return { lines: [`${marks}${highlight.language}`, ...code, marks], end };
}

function closes(line: string, mark: string): boolean {
  const trimmed = line.trim();
  return trimmed.length >= mark.length && trimmed === (mark[0] ?? '').repeat(trimmed.length);
}

/** The line after the end; an unclosed code block extends to the end of the text. */
function endOf(lines: readonly string[], at: number, isEnd: (line: string) => boolean): number {
  for (let end = at + 1; end < lines.length; end++) if (isEnd(lines[end] ?? '')) return end + 1;
  return lines.length;
}

const blockNames =
  'address article aside blockquote center dd details div dl dt figcaption figure footer h1 h2 ' +
  'h3 h4 h5 h6 header hr iframe li main nav ol p picture pre script section style summary table ' +
  'tbody td tfoot th thead tr ul video';
const blockTag = new RegExp(`^ {0,3}</?(${blockNames.replaceAll(' ', '|')})(?=[\\s/>])`, 'i');
/** These may contain blank lines, which end every other HTML block. */
const whole = /^(?:table|pre|script|style)$/;

function htmlBlockAt(lines: Lines, at: number): Passage | undefined {
  const tag = blockTag.exec(lines.all[at] ?? '')?.[1]?.toLowerCase();
  if (tag === undefined) return undefined;
  const end = htmlEnd(lines, at, tag);
  const html = plainShortcodes(lines.all.slice(at, end).join('\n'));
  const { markdown } = readHtmlDocument(html, { hasGrids: true });
  return { lines: markdown === '' ? [] : [...markdown.split('\n'), ''], end };
}

function htmlEnd(lines: Lines, at: number, tag: string): number {
  const isOpening = !(lines.all[at] ?? '').trimStart().startsWith('</');
  const isWhole = isOpening && whole.test(tag) && lines.lastClosing(tag) >= at;
  const closing = closingOf(tag);
  for (let end = at; end < lines.all.length; end++) {
    const line = lines.all[end] ?? '';
    if (isWhole && closing.test(line)) return end + 1;
    if (!isWhole && line.trim() === '') return end;
  }
  return lines.all.length;
}

function closingOf(tag: string): RegExp {
  return new RegExp(`</${tag}\\s*>`, 'i');
}

interface Lines {
  readonly all: readonly string[];
  /** Cached: an unclosed tag must not be searched for on every line. */
  readonly lastClosing: (tag: string) => number;
}

function linesOf(text: string): Lines {
  const all = text.split('\n');
  const known = new Map<string, number>();
  const lastClosing = (tag: string): number => {
    const found = known.get(tag) ?? all.findLastIndex((line) => closingOf(tag).test(line));
    known.set(tag, found);
    return found;
  };
  return { all, lastClosing };
}

const anchor = /^\{:?[ \t]{0,9}[#.][^{}]{0,200}\}$/;
const heading = /^ {0,3}#{1,6}[ \t]/;

function readLine(line: string): string {
  const plain = inline(line);
  return heading.test(plain) ? withoutAnchor(plain) : plain;
}

/** No expression for the end of the line: it would restart at each of many spaces. */
function withoutAnchor(line: string): string {
  const trimmed = line.trimEnd();
  const start = trimmed.lastIndexOf('{');
  return start >= 0 && anchor.test(trimmed.slice(start)) ? trimmed.slice(0, start).trimEnd() : line;
}

const inlineNames =
  'a abbr b big br cite code del em font i img ins kbd mark s samp small span strike strong sub ' +
  'sup u var wbr';
/** A name with a capital is an MDX component. */
const inlineTag = new RegExp(
  `</?(?:${inlineNames.replaceAll(' ', '|')}|[A-Z][A-Za-z.]{0,60})(?:\\s[^<>]{0,2000})?/?>`,
  'g',
);

/** Removes HTML tags and template tags outside of code spans. */
function inline(line: string): string {
  if (!/[<{]/.test(line)) return line;
  return outsideCode(line, (text) => plainShortcodes(text).replace(inlineTag, ' ')).replace(
    /(\S) {2,}(?=\S)/g,
    '$1 ',
  );
}

const codeSpan = /((?<!`)`{1,20}[^`]{1,2000}`+)/g;

/** Parts between backticks are unchanged. */
function outsideCode(line: string, change: (text: string) => string): string {
  return line
    .split(codeSpan)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('');
}

/** Fenced code, a code span, or the start of a comment: the first of these. */
const commentOrCode =
  /^ {0,3}(?:[-*+>] {1,3}){0,4}(`{3,}|~{3,})|(?<!`)`{1,20}[^`\n]{1,2000}`+|<!--|\{\/\*/gm;
const commentEnds: Readonly<Record<string, string>> = { '<!--': '-->', '{/*': '*/}' };

/** An unclosed comment is text. Inside code it is code. */
function withoutComments(text: string): string {
  if (!Object.keys(commentEnds).some((begin) => text.includes(begin))) return text;
  // Cached: a missing end must not be searched for at every start.
  const lastEnd = new Map(Object.values(commentEnds).map((end) => [end, text.lastIndexOf(end)]));
  const parts: string[] = [];
  let kept = 0;
  const next = new RegExp(commentOrCode);
  for (let found = next.exec(text); found; found = next.exec(text)) {
    const [begin, mark] = found;
    const end = commentEnds[begin];
    if (mark !== undefined) next.lastIndex = fenceEnd(text, next.lastIndex, mark);
    else if (end !== undefined && found.index < (lastEnd.get(end) ?? -1)) {
      const close = text.indexOf(end, found.index + begin.length);
      if (close < 0) continue;
      parts.push(text.slice(kept, found.index));
      kept = close + end.length;
      next.lastIndex = kept;
    }
  }
  return parts.join('') + text.slice(kept);
}

/** The position after the closing fence, or the end of the text. */
function fenceEnd(text: string, from: number, mark: string): number {
  for (let start = text.indexOf('\n', from) + 1; start > 0; ) {
    const next = text.indexOf('\n', start) + 1;
    if (closes(text.slice(start, next > 0 ? next : text.length), mark)) {
      return next > 0 ? next : text.length;
    }
    start = next;
  }
  return text.length;
}
