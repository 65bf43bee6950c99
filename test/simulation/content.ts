/** The documents of the simulated world: their text tells their version. */
import type { NewSource } from '../../src/store/job/submit.ts';
import type { Random } from './random.ts';

export const callers = ['ann', 'ben'] as const;
export const corpora = ['books', 'notes'] as const;
export const gates = ['one.test', 'two.test'] as const;
export const everyWord = 'everywhere';
export const poisonWord = 'poison';

/** A source keeps its gate, which follows from its address. */
function gateOf(place: number): string | undefined {
  return [undefined, gates[0], gates[0], gates[1], gates[0]][place % 5];
}

const versionsMax = 4;

/** Few sources and few versions, so that the same ones recur. */
export function randomSource(random: Random, places: number, isPoison: boolean): NewSource {
  const place = random.whole(0, places - 1);
  const version = random.whole(1, versionsMax);
  const source = `document-${place}`;
  const body = random.chance(0.03) ? random.pick(['', '???']) : textOf(source, version, isPoison);
  const gate = gateOf(place);
  return {
    kind: 'inline',
    source,
    ...(gate !== undefined && { gate }),
    input: { kind: 'markdown', title: random.chance(0.3) ? source : null, body },
  };
}

/** Each heading opens a chunk, and each version has its own number of them. */
export function textOf(source: string, version: number, isPoison: boolean): string {
  const parts = Array.from({ length: version }, (_, part) =>
    [
      `## Part ${part} of Version ${version}`,
      '',
      `${everyWord} ${source} version${version} part${part}${isPoison ? ` ${poisonWord}` : ''}`,
    ].join('\n'),
  );
  return parts.join('\n\n');
}
