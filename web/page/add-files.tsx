/** The drop zone and file chooser. */
import { type DragEvent, useId, useMemo, useState } from 'react';
import { CheckedList } from './checked-list.tsx';
import { checkFiles, type Lane } from './preflight.ts';

export interface FileDropProps {
  readonly files: readonly File[];
  readonly lane: Lane;
  readonly onChange: (files: readonly File[]) => void;
}

export function FileDrop({ files, lane, onChange }: FileDropProps) {
  const [isOver, setOver] = useState(false);
  const id = useId();
  const checked = useMemo(() => checkFiles(files, lane), [files, lane]);
  const add = (list: FileList | null): void => onChange([...files, ...(list ?? [])]);
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    add(event.dataTransfer.files);
  };
  const over = (event: DragEvent): void => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <>
      <section
        className={isOver ? 'drop over' : 'drop'}
        aria-label="Drop files here"
        onDrop={drop}
        onDragOver={over}
        onDragLeave={() => setOver(false)}
      >
        <p>Drop files here, or</p>
        <label htmlFor={id} className="field">
          <span>choose them</span>
          <input
            id={id}
            className="input"
            type="file"
            multiple
            onChange={(event) => add(event.target.files)}
          />
        </label>
      </section>
      <CheckedList
        checked={checked}
        onRemove={(index) => onChange(files.filter((_, place) => place !== index))}
      />
    </>
  );
}
