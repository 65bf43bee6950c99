/**
 * Draws a lifecycle from its table in the kernel, with the current state and its outgoing edges
 * highlighted. States are arranged in columns by their distance from the first.
 */
import { useId } from 'react';
import type { Machine } from '../../src/kernel/lifecycle/machine.ts';
import '../style/figure.css';
import { words } from './wording.ts';

const box = { width: 96, height: 28, gapX: 62, gapY: 22 };

interface Place {
  readonly x: number;
  readonly y: number;
}

export interface DiagramProps {
  readonly machine: Machine;
  readonly state: string;
}

export function MachineDiagram({ machine, state }: DiagramProps) {
  const id = useId();
  const { places, width, height } = layOut(machine);
  const ways = waysOf(machine).sort((a, b) => Number(a.from === state) - Number(b.from === state));
  return (
    <svg
      className="diagram"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      role="img"
      aria-label={`The lifecycle of a ${words(machine.name)}; the current state is ${words(state)}`}
    >
      <defs>
        <marker id={id} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" orient="auto">
          <path className="arrow" d="M0 0 8 4 0 8z" />
        </marker>
      </defs>
      {ways.map(({ from, to, events }) => (
        <path
          key={`${from} ${to}`}
          className={from === state ? 'lit' : undefined}
          d={curve(places.get(from), places.get(to))}
          markerEnd={`url(#${id})`}
        >
          <title>{`${words(from)} → ${words(to)}: ${events.join(', ')}`}</title>
        </path>
      ))}
      {machine.states.map((name) => {
        const { x, y } = places.get(name) ?? { x: 0, y: 0 };
        return (
          <g key={name} className={name === state ? 'lit' : undefined}>
            <rect x={x} y={y} width={box.width} height={box.height} rx="6" />
            <text x={x + box.width / 2} y={y + box.height / 2 + 4}>
              {words(name)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

interface Way {
  readonly from: string;
  readonly to: string;
  readonly events: readonly string[];
}

/** One edge per pair of states, even if several events connect them. */
export function waysOf({ edges }: Machine): Way[] {
  const ways = new Map<string, { from: string; to: string; events: string[] }>();
  for (const [event, froms, to] of edges) {
    for (const from of froms) {
      if (from === to) continue;
      const way = ways.get(`${from} ${to}`) ?? { from, to, events: [] };
      way.events.push(event);
      ways.set(`${from} ${to}`, way);
    }
  }
  return [...ways.values()];
}

function layOut(machine: Machine) {
  const columns = columnsOf(machine);
  const places = new Map<string, Place>();
  const tallest = Math.max(...columns.map(({ length }) => length));
  const height = tallest * (box.height + box.gapY) + box.gapY;
  columns.forEach((states, column) => {
    const used = states.length * (box.height + box.gapY) - box.gapY;
    states.forEach((state, row) => {
      const x = 2 + column * (box.width + box.gapX);
      places.set(state, { x, y: (height - used) / 2 + row * (box.height + box.gapY) });
    });
  });
  const width = columns.length * (box.width + box.gapX) - box.gapX + 4;
  return { places, width, height };
}

/** The last column holds the final states. */
function columnsOf({ initial, states, final, edges }: Machine): string[][] {
  const rank = new Map([[initial, 0]]);
  for (const state of rank.keys()) {
    for (const [, froms, to] of edges) {
      const isNew = froms.includes(state) && !rank.has(to) && !final.includes(to);
      if (isNew) rank.set(to, (rank.get(state) ?? 0) + 1);
    }
  }
  const columns: string[][] = [];
  for (const state of states) {
    const place = rank.get(state);
    if (place !== undefined) columns[place] = [...(columns[place] ?? []), state];
  }
  return [...columns.filter((column) => column !== undefined), [...final]];
}

function curve(from: Place | undefined, to: Place | undefined): string {
  if (!from || !to) return '';
  const [fromY, toY] = [from.y + box.height / 2, to.y + box.height / 2];
  if (from.x === to.x) {
    const x = from.x + box.width;
    const isDown = toY > fromY;
    const [startY, endY] = isDown ? [fromY + 6, toY - 6] : [fromY - 6, toY + 6];
    return `M${x} ${startY} C${x + 34} ${startY} ${x + 34} ${endY} ${x} ${endY}`;
  }
  const isForward = to.x > from.x;
  // Backward edges run slightly lower than forward edges, so that both stay visible.
  const shift = isForward ? -4 : 6;
  const startX = isForward ? from.x + box.width : from.x;
  const endX = isForward ? to.x : to.x + box.width;
  const bend = (endX - startX) / 2;
  const start = `${startX} ${fromY + shift}`;
  const end = `${endX} ${toY + shift}`;
  return `M${start} C${startX + bend} ${fromY + shift} ${endX - bend} ${toY + shift} ${end}`;
}
