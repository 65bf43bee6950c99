const steps = [
  { from: 0.6, level: 3, name: 'High relevance' },
  { from: 0.35, level: 2, name: 'Medium relevance' },
  { from: 0, level: 1, name: 'Low relevance' },
] as const;

/** Three bars instead of a number that looks more exact than it is. */
export function Relevance({ value }: { value: number }) {
  const { level, name } = steps.find(({ from }) => value >= from) ?? steps[2];
  return (
    <span
      className="relevance"
      role="img"
      aria-label={name}
      title={`${name}: ${value.toFixed(2)} of 1`}
    >
      {[1, 2, 3].map((bar) => (
        <i key={bar} className={bar <= level ? 'full' : ''} />
      ))}
    </span>
  );
}
