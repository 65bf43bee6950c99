/** An entity in the middle of those that it shares passages with: the more passages, the wider. */
import type { RelatedEntity } from '../../../src/contract/schema/schema.ts';

const box = { width: 288, height: 220, radiusX: 100, radiusY: 82 };
const lettersMax = 18;

export interface EntityGraphProps {
  readonly name: string;
  readonly others: readonly RelatedEntity[];
}

export function EntityGraph({ name, others }: EntityGraphProps) {
  const most = Math.max(...others.map(({ passages }) => passages), 1);
  const [centerX, centerY] = [box.width / 2, box.height / 2];
  const places = others.map((other, index) => {
    const angle = (index / others.length) * 2 * Math.PI - Math.PI / 2;
    return {
      other,
      x: centerX + box.radiusX * Math.cos(angle),
      y: centerY + box.radiusY * Math.sin(angle),
    };
  });
  return (
    <svg
      className="entity-graph"
      viewBox={`0 0 ${box.width} ${box.height}`}
      role="img"
      aria-label={`${name} and ${others.length} entities in the same passages, listed below`}
    >
      {places.map(({ other, x, y }) => (
        <line
          key={`${other.kind} ${other.name}`}
          x1={centerX}
          y1={centerY}
          x2={x}
          y2={y}
          strokeWidth={1 + (3 * other.passages) / most}
        />
      ))}
      {places.map(({ other, x, y }) => (
        <text key={`${other.kind} ${other.name}`} x={x} y={y + 4}>
          {shortened(other.name)}
        </text>
      ))}
      <text className="center" x={centerX} y={centerY + 4}>
        {shortened(name)}
      </text>
    </svg>
  );
}

function shortened(name: string): string {
  return name.length > lettersMax ? `${name.slice(0, lettersMax - 1)}…` : name;
}
