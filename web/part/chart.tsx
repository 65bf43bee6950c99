/** Lines over time, with axes, gaps where nothing happened, and the values under the pointer. */
import { type PointerEvent, useState } from 'react';
import { count, duration } from './wording.ts';

export interface Point {
  readonly at: number;
  readonly value: number;
}

export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
}

export interface ChartProps {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly Series[];
  /** The range of the time axis. */
  readonly from: number;
  readonly to: number;
  /** Points further apart than this are not joined. */
  readonly gapMs: number;
}

const size = { width: 300, height: 100 };
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

export function Chart({ unit, ...frame }: ChartProps) {
  const { title, series, from, to } = frame;
  const [hovered, setHovered] = useState<number>();
  const values = series.flatMap(({ points }) => points.map(({ value }) => value));
  const most = topOf(Math.max(...values, 0));
  const format = (value: number): string => shownAs(value, unit);
  const shown = series.map(({ name, points }) => {
    const point = hovered === undefined ? points.at(-1) : points.find(({ at }) => at === hovered);
    return point ? `${series.length > 1 ? `${name} ` : ''}${format(point.value)}` : undefined;
  });
  const text = shown.filter((part) => part !== undefined).join(' · ');
  const when = hovered === undefined ? 'last' : clock.format(hovered);
  return (
    <figure className="card stack tight" data-chart={title}>
      <figcaption className="row spread">
        <h3>{title}</h3>
        <span className="number" data-value>
          {text === '' ? (
            <span className="soft">nothing in the last hour</span>
          ) : (
            `${when}: ${text}`
          )}
        </span>
      </figcaption>
      <div className="chart-frame">
        <span className="chart-scale soft small" aria-hidden="true">
          <span>{format(most)}</span>
          <span>{format(most / 2)}</span>
          <span>0</span>
        </span>
        <Plot {...{ ...frame, text, hovered, most }} onHover={setHovered} />
      </div>
      <p className="row spread soft small" aria-hidden="true">
        <span>{clock.format(from)}</span>
        <span>{clock.format(to)}</span>
      </p>
    </figure>
  );
}

/** Long times are read in seconds and minutes. */
function shownAs(value: number, unit: string): string {
  if (unit === 'ms' && value >= 1000) return duration(value);
  return `${value < 10 ? value.toFixed(1) : count(Math.round(value))} ${unit}`;
}

interface PlotProps extends Omit<ChartProps, 'unit'> {
  readonly text: string;
  readonly hovered: number | undefined;
  /** The value at the top. */
  readonly most: number;
  readonly onHover: (at: number | undefined) => void;
}

function Plot({ title, series, from, to, gapMs, text, hovered, most, onHover }: PlotProps) {
  const { width, height } = size;
  const xOf = (at: number): string => place(((at - from) / Math.max(to - from, 1)) * width);
  const yOf = (value: number): string => place(height - (value / most) * (height - 4));
  const hover = ({ clientX, currentTarget }: PointerEvent): void => {
    const box = currentTarget.getBoundingClientRect();
    const at = from + ((clientX - box.left) / Math.max(box.width, 1)) * (to - from);
    onHover(nearestOf(series, at));
  };
  return (
    <svg
      className="chart"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${title}: ${text === '' ? 'nothing in the last hour' : text}`}
      onPointerMove={hover}
      onPointerLeave={() => onHover(undefined)}
    >
      <path className="grid" d={`M0 ${height}H${width}M0 ${height / 2}H${width}M0 4H${width}`} />
      {series.map(({ name, points }, index) => (
        <path
          key={name}
          className={index === 0 ? 'curve' : 'curve second'}
          d={pathOf(points, gapMs, ({ at, value }) => `${xOf(at)} ${yOf(value)}`)}
        />
      ))}
      {hovered !== undefined && <path className="grid" d={`M${xOf(hovered)} 0V${height}`} />}
    </svg>
  );
}

const place = (value: number): string => value.toFixed(1);

/** A round number at or above the highest value. */
function topOf(value: number): number {
  if (value <= 1) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * unit).find((top) => top >= value) ?? value;
}

function nearestOf(series: readonly Series[], at: number): number | undefined {
  const times = series.flatMap(({ points }) => points.map((point) => point.at));
  return times.toSorted((a, b) => Math.abs(a - at) - Math.abs(b - at))[0];
}

/** A point without neighbours is a short line, so that it can be seen. */
function pathOf(points: readonly Point[], gapMs: number, draw: (point: Point) => string): string {
  return points
    .map((point, index) => {
      const before = points[index - 1];
      const isJoined = before !== undefined && point.at - before.at <= gapMs;
      return isJoined ? `L${draw(point)}` : `M${draw(point)}h1.5`;
    })
    .join('');
}
