/** Figures with their targets, as a table. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly digits: number;
  readonly unit?: string;
  readonly target?: { readonly atLeast: number } | { readonly atMost: number };
}

export interface Section {
  readonly title: string;
  /** The method, in a sentence or two. */
  readonly note: string;
  readonly figures: readonly Figure[];
  /** Next to the figures, for data with more than one column. */
  readonly tables?: readonly Table[];
}

/** The first column is text, the others are numbers or short words. */
export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function isMet({ value, target }: Figure): boolean {
  if (target === undefined) return true;
  return 'atLeast' in target ? value >= target.atLeast : value <= target.atMost;
}

export function reportSections(sections: readonly Section[]): string {
  return sections.map(reportSection).join('\n\n');
}

function reportSection({ title, note, figures, tables = [] }: Section): string {
  const rows = figures.map((figure) => {
    const { name, value, digits, unit = '', target } = figure;
    const verdict = target === undefined ? '' : isMet(figure) ? 'met' : '**missed**';
    return `| ${name} | ${value.toFixed(digits)} ${unit} | ${targetText(figure)} | ${verdict} |`;
  });
  const head = ['| | measured | target | |', '| --- | --: | --: | --- |'];
  const measured = figures.length === 0 ? [] : ['', ...head, ...rows];
  const beside = tables.flatMap((table) => ['', ...reportTable(table)]);
  return [`## ${title}`, '', note, ...measured, ...beside].join('\n');
}

function reportTable({ head, rows }: Table): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, at) => (at === 0 ? '---' : '--:'))), ...rows.map(line)];
}

function targetText({ target, digits }: Figure): string {
  if (target === undefined) return '';
  return 'atLeast' in target
    ? `≥ ${target.atLeast.toFixed(digits)}`
    : `≤ ${target.atMost.toFixed(digits)}`;
}
