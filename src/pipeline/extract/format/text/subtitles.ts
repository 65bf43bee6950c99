/**
 * WebVTT and SubRip to a transcript: the spoken lines in order, with their speaker if named. A
 * pause starts a new paragraph. Numbers, times, styles and notes are dropped.
 */
import type { Parser } from '../../parsed.ts';
import { decodeText } from './decode-text.ts';
import { charsetMeta, parseText } from './text.ts';

interface Cue {
  readonly startMs: number;
  readonly endMs: number;
  readonly speaker: string | undefined;
  readonly text: string;
}

const pauseMs = 2000;
const paragraphCharactersMax = 1000;

export const parseSubtitles: Parser = async (input, signal) => {
  const { text, charset, isGuess } = decodeText(input.bytes, input.charset);
  const blocks = text.replace(/\r\n?/g, '\n').split(/\n(?:[ \t]*\n)+/);
  const cues = blocks.flatMap((block) => readCue(block) ?? []);
  // The content may not match the file name.
  if (cues.length === 0) return parseText(input, signal);
  const durationMs = cues.reduce((latest, { endMs }) => Math.max(latest, endMs), 0);
  return {
    title: null,
    language: /^Language:\s*([A-Za-z-]{2,20})\s*$/m.exec(blocks[0] ?? '')?.[1] ?? null,
    markdown: paragraphsOf(cues).join('\n\n'),
    meta: { ...charsetMeta(charset, isGuess), duration_ms: durationMs },
  };
};

const times =
  /^\s*((?:\d{1,4}:)?\d{1,2}:\d{2}[.,]\d{3})[ \t]+-->[ \t]+((?:\d{1,4}:)?\d{1,2}:\d{2}[.,]\d{3})/;

function readCue(block: string): Cue | undefined {
  const lines = block.split('\n');
  // An id or a number may precede the times; a note has no times.
  const at = lines.slice(0, 3).findIndex((line) => times.test(line));
  const [, start = '', end = ''] = times.exec(lines[at] ?? '') ?? [];
  if (at < 0) return undefined;
  const spoken = lines.slice(at + 1).join(' ');
  return {
    startMs: msOf(start),
    endMs: msOf(end),
    speaker: /<v(?:\.[^\s<>]{0,100})?\s+([^<>]{1,200})>/.exec(spoken)?.[1]?.trim(),
    text: wordsOf(spoken),
  };
}

function msOf(time: string): number {
  const [rest = '0', ms = '0'] = time.split(/[.,]/);
  return rest.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) * 1000 + Number(ms);
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&nbsp;': ' ',
  '&lrm;': '',
  '&rlm;': '',
};

/** Without tags such as `<i>`, `<c.loud>`, `<00:01.000>`, and without SubRip's `{\an8}`. */
function wordsOf(spoken: string): string {
  return spoken
    .replace(/<\/?[^<>]{0,200}>|\{\\[^{}]{0,100}\}/g, '')
    .replace(/&[a-z]{2,4};/g, (entity) => entities[entity] ?? entity)
    .replace(/\s+/g, ' ')
    .trim();
}

function paragraphsOf(cues: readonly Cue[]): string[] {
  const paragraphs: string[] = [];
  let previous: Cue | undefined;
  let open = '';
  for (const cue of cues) {
    // Roll-up captions repeat the previous line.
    if (cue.text === '' || cue.text === previous?.text) continue;
    const isNew =
      previous === undefined ||
      cue.speaker !== previous.speaker ||
      cue.startMs - previous.endMs > pauseMs ||
      open.length > paragraphCharactersMax;
    if (isNew && open !== '') paragraphs.push(open);
    const named = cue.speaker === undefined ? cue.text : `${cue.speaker}: ${cue.text}`;
    open = isNew ? named : `${open} ${cue.text}`;
    previous = cue;
  }
  if (open !== '') paragraphs.push(open);
  return paragraphs;
}
