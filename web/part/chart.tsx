/** A line over time. */
import type { Point } from './metrics.ts';

export interface ChartProps {
  readonly title: string;
  readonly points: readonly Point[];
  readonly unit: string;
}

const size = { width: 300, height: 100 };

export function Chart({ title, points, unit }: ChartProps) {
  const most = Math.max(...points.map(({ value }) => value), 1);
  const last = points.at(-1)?.value ?? 0;
  const from = points[0]?.at ?? 0;
  const span = Math.max((points.at(-1)?.at ?? 1) - from, 1);
  const line = points
    .map(({ at, value }) => {
      const x = ((at - from) / span) * size.width;
      return `${x.toFixed(1)} ${(size.height - (value / most) * (size.height - 6)).toFixed(1)}`;
    })
    .join('L');
  const now = `${last.toFixed(last < 10 ? 1 : 0)} ${unit}`;
  return (
    <figure className="card stack tight">
      <figcaption className="row spread">
        <h3>{title}</h3>
        <span className="number">{now}</span>
      </figcaption>
      <svg
        className="chart"
        viewBox={`0 0 ${size.width} ${size.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${now} now, ${most.toFixed(1)} ${unit} at most`}
      >
        <path
          className="grid"
          d={`M0 ${size.height}H${size.width}M0 ${size.height / 2}H${size.width}`}
        />
        {points.length > 1 && (
          <>
            <path className="area" d={`M0 ${size.height}L${line}L${size.width} ${size.height}Z`} />
            <path className="curve" d={`M${line}`} />
          </>
        )}
      </svg>
      <p className="soft small">
        {points.length > 1
          ? `at most ${most.toFixed(1)} ${unit} in the last ${Math.round(span / 1000)} s`
          : 'The chart starts with the next sample.'}
      </p>
    </figure>
  );
}
