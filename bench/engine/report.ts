/** The result of the engine suite as Markdown. */
import { type Measure, measures } from './measures.ts';
import type { SuiteResult } from './suite.ts';
import { formatted, type Row } from './summary.ts';

export function reportEngine({ rows, failures }: SuiteResult): string {
  const sections = measures.flatMap((measure) => {
    const own = rows.filter((row) => row.measure === measure.key);
    return own.length === 0 ? [] : [sectionOf(measure, own)];
  });
  const failed = failures.map(
    ({ name, reason }) => `- ${name}: ${reason.split('\n').join('\n  ')}`,
  );
  if (failed.length > 0) sections.push(['### Not measured', ...failed].join('\n'));
  return [...sections, noiseSentence(rows), verdictOf(rows)].join('\n\n');
}

type Column = readonly [title: string, cell: (row: Row, measure: Measure) => string];

const columns: readonly Column[] = [
  ['engine', ({ engine }) => engine],
  ['store', ({ store }) => store],
  ['median', (row, { unit }) => formatted(row.median, unit)],
  ['range', (row, measure) => rangeOf(row, measure)],
  ['p99', (row, { unit }) => formatted(row.p99, unit)],
  ['target', (row, measure) => targetOf(row, measure)],
  ['', ({ isMet }) => (isMet === undefined ? '' : isMet ? 'met' : '**missed**')],
  ['× best peer', ({ timesBestPeer }) => formatted(timesBestPeer, 'times')],
  ['of raw limit', (row, measure) => rawOf(row, measure)],
  ['client µs', ({ clientMicros }) => formatted(clientMicros, 'rate')],
  ['server µs', ({ serverMicros }) => formatted(serverMicros, 'rate')],
  ['foreign cores', ({ foreignCores }) => formatted(foreignCores, 'times')],
  ['settings', ({ note }) => note ?? ''],
];

/** A column that is empty in all rows of a measure is omitted. */
function sectionOf(measure: Measure, rows: readonly Row[]): string {
  const table = columns
    .map(([title, cell]) => [title, ...rows.map((row) => cell(row, measure))])
    .filter((column) => column.slice(1).some((cell) => cell !== ''));
  const widths = table.map((column) => Math.max(3, ...column.map((cell) => cell.length)));
  const lineOf = (place: number): string => {
    const cells = table.map((column, index) => (column[place] ?? '').padEnd(widths[index] ?? 0));
    return `| ${cells.join(' | ')} |`;
  };
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  const body = rows.map((_, index) => lineOf(index + 1));
  return [`### ${measure.title}`, '', lineOf(0), rule, ...body].join('\n');
}

function rangeOf({ values }: Row, { unit }: Measure): string {
  if (values.length < 2 || unit === 'answer') return '';
  return [Math.min(...values), Math.max(...values)]
    .map((value) => formatted(value, unit))
    .join('–');
}

function targetOf({ target }: Row, { unit, better }: Measure): string {
  if (target === undefined) return '';
  return unit === 'answer'
    ? formatted(target, unit)
    : `${better === 'more' ? '≥' : '≤'} ${formatted(target, unit)}`;
}

function rawOf({ ofRawLimit }: Row, { better }: Measure): string {
  if (ofRawLimit === undefined) return '';
  return better === 'more' ? `${Math.round(ofRawLimit * 100)} %` : `${ofRawLimit.toFixed(1)} ×`;
}

/** Above this foreign load, in cores, the figures are not meaningful. */
const quietCores = 0.25;

function noiseSentence(rows: readonly Row[]): string {
  const noise = rows.flatMap(({ foreignCores }) => foreignCores ?? []);
  const noisy = noise.filter((cores) => cores > quietCores).length;
  if (noise.length === 0) return 'How busy the machine was otherwise is not known here.';
  if (noisy === 0) return `The machine was quiet: at most ${quietCores} cores of foreign load.`;
  return (
    `**${noisy} of ${noise.length} rows had more than ${quietCores} cores of foreign load** ` +
    `(up to ${Math.max(...noise).toFixed(2)}): their rates and times are not to be quoted.`
  );
}

function verdictOf(rows: readonly Row[]): string {
  const judged = rows.filter(({ isMet }) => isMet !== undefined);
  const missed = judged.filter(({ isMet }) => !isMet);
  const names = missed.map(({ measure, store }) => `${measure} on ${store}`);
  const met = `${judged.length - missed.length} of ${judged.length} targets met`;
  return missed.length === 0 ? met : `${met}; missed: ${names.join(', ')}`;
}
