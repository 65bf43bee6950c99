/** How often a source is compared with its corpus. */
import { useState } from 'react';
import { Menu } from '../../part/choice.tsx';

const schedules = [
  { value: '', name: 'On demand' },
  { value: '15m', name: 'Every 15 minutes' },
  { value: '1h', name: 'Every hour' },
  { value: '1d', name: 'Every day' },
] as const;

const other = 'other';

interface ScheduleProps {
  readonly value: string;
  readonly onChange: (schedule: string) => void;
}

export function Schedule({ value, onChange }: ScheduleProps) {
  const isListed = schedules.some((schedule) => schedule.value === value);
  const [isOther, setOther] = useState(!isListed);
  const options = [...schedules, { value: other, name: 'Other…' }];
  return (
    <div className="row">
      <Menu
        label="Compare"
        options={options}
        value={isOther ? other : value}
        onChange={(chosen) => {
          setOther(chosen === other);
          if (chosen !== other) onChange(chosen);
        }}
      />
      {isOther && (
        <label className="field">
          <span>Interval, or five cron fields in UTC</span>
          <input
            className="input"
            value={value}
            placeholder="6h, or 0 3 * * *"
            onChange={({ target }) => onChange(target.value)}
          />
        </label>
      )}
    </div>
  );
}
