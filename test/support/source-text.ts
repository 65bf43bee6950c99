/**
 * A source file as the style rules see it: the same text three times, with equal length and lines,
 * so that positions match. `code` has comments and literals blanked, `uncommented` only comments.
 * TypeScript's own parser is no longer available from JavaScript, and the rules need no tree: this
 * scanner only separates code from the rest.
 */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly code: string;
  readonly uncommented: string;
}

type Kind = 'code' | 'comment' | 'literal';

interface Span {
  readonly kind: Kind;
  readonly end: number;
}

/** After one of these words or marks, a slash begins a regular expression, not a division. */
const beforeRegex =
  /(?:^|[([{,;=:?!&|+\-*%<>~^]|\b(?:return|typeof|case|in|of|do|else|void|yield|await))$/;

export function readSource(path: string, text: string): Source {
  const spans = /\.(?:sql|css)$/.test(path)
    ? []
    : scan(path.endsWith('.tsx') ? tagless(text) : text);
  return {
    path,
    text,
    code: blank(text, spans, (kind) => kind !== 'code'),
    uncommented: blank(text, spans, (kind) => kind === 'comment'),
  };
}

/** The slash of a tag is not a division and begins no pattern. */
function tagless(text: string): string {
  return text.replaceAll('</', '< ').replaceAll('/>', ' >');
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

export function lineText(text: string, line: number): string {
  return text.split('\n')[line - 1] ?? '';
}

interface Range extends Span {
  readonly start: number;
}

function scan(text: string): Range[] {
  const ranges: Range[] = [];
  // One entry per open template literal, with the depth of braces inside its `${ }`.
  const templates: number[] = [];
  let index = 0;
  const add = ({ kind, end }: Span) => {
    ranges.push({ kind, start: index, end });
    index = end;
  };
  while (index < text.length) {
    const depth = templates.at(-1);
    const character = text.charAt(index);
    if (character === '}' && depth === 0) {
      templates.pop();
      add(templateSpan(text, index, templates));
    } else if (character === '`') {
      add(templateSpan(text, index, templates));
    } else {
      const span = literalOrComment(text, index);
      if (span) add(span);
      else {
        if (depth !== undefined && character === '{') templates[templates.length - 1] = depth + 1;
        if (depth !== undefined && character === '}') templates[templates.length - 1] = depth - 1;
        index += 1;
      }
    }
  }
  return ranges;
}

function literalOrComment(text: string, index: number): Span | undefined {
  const character = text.charAt(index);
  const next = text.charAt(index + 1);
  if (character === '/' && next === '/') return { kind: 'comment', end: lineEnd(text, index) };
  if (character === '/' && next === '*') {
    const end = text.indexOf('*/', index + 2);
    return { kind: 'comment', end: end === -1 ? text.length : end + 2 };
  }
  if (character === "'" || character === '"') {
    return { kind: 'literal', end: quotedEnd(text, index, character) };
  }
  if (character === '/' && beforeRegex.test(text.slice(Math.max(0, index - 40), index).trimEnd())) {
    return { kind: 'literal', end: regexEnd(text, index) };
  }
  return undefined;
}

/** From a backtick, or the brace that ends a `${ }`, to the next `${` or the closing backtick. */
function templateSpan(text: string, start: number, templates: number[]): Span {
  for (let index = start + 1; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === '`') return { kind: 'literal', end: index + 1 };
    else if (text[index] === '$' && text[index + 1] === '{') {
      templates.push(0);
      return { kind: 'literal', end: index + 2 };
    }
  }
  return { kind: 'literal', end: text.length };
}

function quotedEnd(text: string, start: number, quote: string): number {
  for (let index = start + 1; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === quote || text[index] === '\n') return index + 1;
  }
  return text.length;
}

function regexEnd(text: string, start: number): number {
  let inClass = false;
  for (let index = start + 1; index < text.length; index += 1) {
    const character = text[index];
    if (character === '\\') index += 1;
    else if (character === '\n') return index;
    else if (character === '[') inClass = true;
    else if (character === ']') inClass = false;
    else if (character === '/' && !inClass) return index + 1;
  }
  return text.length;
}

function lineEnd(text: string, index: number): number {
  const end = text.indexOf('\n', index);
  return end === -1 ? text.length : end;
}

function blank(text: string, ranges: readonly Range[], isBlanked: (kind: Kind) => boolean): string {
  let result = '';
  let from = 0;
  for (const { kind, start, end } of ranges) {
    const piece = text.slice(start, end);
    result += text.slice(from, start) + (isBlanked(kind) ? piece.replace(/[^\n]/g, ' ') : piece);
    from = end;
  }
  return result + text.slice(from);
}
