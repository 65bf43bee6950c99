/** One box for everything: files and folders are dropped or chosen, addresses or a text pasted. */
import { type ClipboardEvent, useId } from 'react';
import { Segments } from '../part/choice.tsx';
import { type ChosenFile, chosenFrom } from './chosen-file.ts';
import type { Reading } from './pasted.ts';

export interface AddBoxProps {
  readonly text: string;
  readonly reading: Reading;
  readonly title: string;
  readonly hasFiles: boolean;
  readonly onText: (text: string) => void;
  readonly onReading: (reading: Reading) => void;
  readonly onTitle: (title: string) => void;
  readonly onFiles: (files: readonly ChosenFile[]) => void;
}

const readings = [
  { value: 'addresses', name: 'Addresses' },
  { value: 'text', name: 'Text' },
] as const;

export function AddBox(props: AddBoxProps) {
  const { text, reading, title, hasFiles, onText, onReading, onTitle, onFiles } = props;
  const paste = (event: ClipboardEvent): void => {
    const files = chosenFrom(event.clipboardData.files);
    if (files.length === 0) return;
    event.preventDefault();
    onFiles(files);
  };
  return (
    <section className="add-box" aria-label="What to add">
      <label className="field">
        <span className="hidden-text">Addresses, one per line, or a text</span>
        <textarea
          className="input"
          rows={text === '' && hasFiles ? 2 : 5}
          value={text}
          placeholder={
            'Drop files or folders anywhere on this page.\n' +
            'Or paste addresses, one per line, or any text.'
          }
          onChange={({ target }) => onText(target.value)}
          onPaste={paste}
        />
      </label>
      <div className="row">
        <Chooser label="Choose files" onChoose={onFiles} />
        <Chooser label="Choose a folder" isFolder onChoose={onFiles} />
        {text.trim() !== '' && (
          <span className="row read-as">
            <span className="soft">Read as</span>
            <Segments label="Read as" options={readings} value={reading} onChange={onReading} />
          </span>
        )}
      </div>
      {text.trim() !== '' && reading === 'text' && (
        <label className="field">
          <span>Title</span>
          <input className="input" value={title} onChange={({ target }) => onTitle(target.value)} />
        </label>
      )}
    </section>
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
