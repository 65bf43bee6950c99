/** Draws the steps of a document from their table, with the number of documents at each. */

import { stepTable } from '../../src/kernel/lifecycle/item.ts';
import { place } from '../../src/kernel/lifecycle/item-wait.ts';
import { columnsOf } from './step-strip.tsx';
import { count, words } from './wording.ts';

const box = { width: 112, height: 30, gapX: 30, gapY: 14 };

export interface StepDiagramProps {
  /** Documents at each step. */
  readonly counts: Readonly<Record<string, number>>;
}

export function StepDiagram({ counts }: StepDiagramProps) {
  const columns = [['enqueued'], ...columnsOf()];
  const tallest = Math.max(...columns.map(({ length }) => length));
  const height = tallest * (box.height + box.gapY) + 2;
  const width = columns.length * (box.width + box.gapX) - box.gapX + 4;
  const places = new Map(
    columns.flatMap((steps, column) => {
      const used = steps.length * (box.height + box.gapY) - box.gapY;
      return steps.map((step, row): [string, { x: number; y: number }] => {
        const y = (height - used) / 2 + row * (box.height + box.gapY);
        return [step, { x: 2 + column * (box.width + box.gapX), y }];
      });
    }),
  );
  const lines = stepTable.flatMap(({ step, after }) =>
    (after.length === 0 ? ['enqueued'] : after).map((before) => [before, step] as const),
  );
  return (
    <svg
      className="diagram"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      role="img"
      aria-label="The steps of a document, and the number of documents at each"
    >
      {lines.map(([before, step]) => {
        const [from, to] = [places.get(before), places.get(step)];
        if (!from || !to) return null;
        const [x, y] = [from.x + box.width, from.y + box.height / 2];
        const end = to.y + box.height / 2;
        const middle = (x + to.x) / 2;
        const d = `M${x} ${y} C${middle} ${y} ${middle} ${end} ${to.x} ${end}`;
        return <path key={`${before} ${step}`} className="step-line" d={d} />;
      })}
      {[...places].map(([step, { x, y }]) => (
        <g key={step} className={classOf(step, counts[step] ?? 0)}>
          <rect x={x} y={y} width={box.width} height={box.height} rx="6" />
          <text x={x + box.width / 2} y={y + box.height / 2 + 4}>
            {words(step)}
            {counts[step] ? ` · ${count(counts[step])}` : ''}
          </text>
        </g>
      ))}
    </svg>
  );
}

function classOf(step: string, value: number): string | undefined {
  if (value === 0) return undefined;
  return step === place.done ? 'past' : 'lit';
}
