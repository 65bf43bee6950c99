/** The drop zone, and the choosers of files and folders. */
import { type DragEvent, useId, useMemo, useState } from 'react';
import { CheckedList } from './checked-list.tsx';
import { type ChosenFile, chosenFrom, readDropped } from './chosen-file.ts';
import { type Checked, checkFiles, type Lane } from './preflight.ts';

export interface FileDropProps {
  readonly files: readonly ChosenFile[];
  readonly lane: Lane;
  readonly onChange: (files: readonly ChosenFile[]) => void;
}

export function FileDrop({ files, lane, onChange }: FileDropProps) {
  const [isOver, setOver] = useState(false);
  const [unreadable, setUnreadable] = useState<readonly string[]>([]);
  const checked = useMemo(() => checkFiles(files, lane), [files, lane]);
  const failed: Checked[] = unreadable.map((name) => ({
    name,
    verdict: 'refused',
    group: 'unreadable',
    note: 'the browser cannot read it',
  }));
  const add = (added: readonly ChosenFile[]): void => onChange([...files, ...added]);
  const drop = async (event: DragEvent): Promise<void> => {
    event.preventDefault();
    setOver(false);
    const dropped = await readDropped(event.dataTransfer.items);
    setUnreadable(dropped.unreadable);
    add(dropped.files);
  };
  const over = (event: DragEvent): void => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <>
      <section
        className={isOver ? 'drop over' : 'drop'}
        aria-label="Drop files or folders here"
        onDrop={(event) => void drop(event)}
        onDragOver={over}
        onDragLeave={() => setOver(false)}
      >
        <p>Drop files or folders here</p>
        <div className="row middle">
          <Chooser label="Choose files" onChoose={add} />
          <Chooser label="Choose a folder" isFolder onChoose={add} />
        </div>
      </section>
      {files.length > 0 && (
        <p className="row end">
          <button type="button" className="button quiet" onClick={() => onChange([])}>
            Remove all
          </button>
        </p>
      )}
      <CheckedList
        checked={[...checked, ...failed]}
        onRemove={(index) =>
          index < files.length
            ? onChange(files.filter((_, place) => place !== index))
            : setUnreadable(unreadable.filter((_, place) => place !== index - files.length))
        }
      />
    </>
  );
}

interface ChooserProps {
  readonly label: string;
  readonly isFolder?: boolean;
  readonly onChoose: (files: readonly ChosenFile[]) => void;
}

function Chooser({ label, isFolder = false, onChoose }: ChooserProps) {
  const id = useId();
  return (
    <label htmlFor={id} className="button chooser">
      {label}
      <input
        id={id}
        type="file"
        multiple
        ref={(input) => void input?.toggleAttribute('webkitdirectory', isFolder)}
        onChange={(event) => {
          onChoose(chosenFrom(event.target.files));
          // The same folder can be chosen again.
          event.target.value = '';
        }}
      />
    </label>
  );
}
