/** A choice of one option: as buttons, tabs, or a menu. */
import type { KeyboardEvent } from 'react';

export interface Option<Value extends string> {
  readonly value: Value;
  readonly name: string;
  /** How many entries it has. */
  readonly total?: string | undefined;
}

interface Choice<Value extends string> {
  readonly label: string;
  readonly options: readonly Option<Value>[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

export function Segments<Value extends string>({ label, options, value, onChange }: Choice<Value>) {
  return (
    <fieldset className="segments" aria-label={label} style={{ margin: 0, padding: 0 }}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.name}
        </button>
      ))}
    </fieldset>
  );
}

export function Tabs<Value extends string>({ label, options, value, onChange }: Choice<Value>) {
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const place = options.findIndex((option) => option.value === value) + step;
    const next = options[(place + options.length) % options.length];
    if (!next) return;
    onChange(next.value);
    document.getElementById(`tab-${next.value}`)?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {options.map((option) => (
        <button
          key={option.value}
          id={`tab-${option.value}`}
          type="button"
          role="tab"
          aria-selected={option.value === value}
          aria-controls={`panel-${option.value}`}
          tabIndex={option.value === value ? 0 : -1}
          onClick={() => onChange(option.value)}
        >
          {option.name}
          {option.total !== undefined && <span className="soft number"> {option.total}</span>}
        </button>
      ))}
    </div>
  );
}

interface MenuProps {
  readonly label: string;
  readonly options: readonly Option<string>[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function Menu({ label, options, value, onChange }: MenuProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <select className="input" value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.name}
          </option>
        ))}
      </select>
    </label>
  );
}
