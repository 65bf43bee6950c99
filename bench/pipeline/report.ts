/** The figures of the pipeline as Markdown. */
import type { PipelineFigure } from './suite.ts';

export function reportPipeline(figures: readonly PipelineFigure[]): string {
  const rows = figures.map(({ title, value, target = '', isMet, note = '' }) => {
    const verdict = isMet === undefined ? '' : isMet ? 'met' : '**missed**';
    return `| ${title} | ${value.toFixed(2)} | ${target} | ${verdict} | ${note} |`;
  });
  return ['| | | target | | |', '| --- | ---: | --- | --- | --- |', ...rows].join('\n');
}
