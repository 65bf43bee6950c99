/** The check result of each source, before anything is sent. */
import { Badge, type Tone } from '../part/basic.tsx';
import { counted } from '../part/wording.ts';
import type { Checked } from './preflight.ts';

const badges: Readonly<Record<Checked['verdict'], { tone: Tone; name: string }>> = {
  ready: { tone: 'ok', name: 'ready' },
  refused: { tone: 'bad', name: 'skipped' },
  twice: { tone: 'plain', name: 'skipped' },
};

const shownMax = 200;

export interface CheckedListProps {
  readonly checked: readonly Checked[];
  /** What the service already knows about it. */
  readonly known?: ReadonlyMap<string, string> | undefined;
  readonly onRemove?: ((index: number) => void) | undefined;
}

export function CheckedList({ checked, known, onRemove }: CheckedListProps) {
  if (checked.length === 0) return null;
  return (
    <div className="card flush" data-preflight>
      <ul>
        {checked.slice(0, shownMax).map(({ name, verdict, note }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same source may be there twice
          <li key={`${index} ${name}`} className="entry">
            <Badge tone={badges[verdict].tone}>{badges[verdict].name}</Badge>
            <span className="grow cut" title={name}>
              {name}
            </span>
            <span className="soft">{known?.get(name) ?? note}</span>
            {onRemove && (
              <button type="button" className="button quiet" onClick={() => onRemove(index)}>
                Remove
              </button>
            )}
          </li>
        ))}
      </ul>
      {checked.length > shownMax && (
        <p className="entry soft">{`and ${counted(checked.length - shownMax, 'more', 'more')}`}</p>
      )}
    </div>
  );
}
