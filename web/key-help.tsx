/** The list of keyboard shortcuts. */
import { Dialog } from './part/dialog.tsx';
import { commandKey } from './part/keys.ts';

type Help = readonly [keys: string, meaning: string];

const general: readonly Help[] = [
  ['?', 'this help'],
  ['/', 'search'],
  [`${commandKey} K`, 'jump to a page, a corpus or a job, or search'],
];
const others: readonly Help[] = [
  ['j k', 'next, previous row'],
  ['Enter', 'open the selected row'],
  ['n N', 'document: next, previous passage with the words'],
  ['↓ ↑', 'search: choose a result from the field'],
  ['r', 'inbox: retry'],
  ['d', 'inbox: discard'],
  ['R D', 'inbox: the same for all with this cause'],
];

export interface KeyHelpProps {
  readonly pages: readonly { readonly key: string; readonly name: string }[];
  readonly onClose: () => void;
}

export function KeyHelp({ pages, onClose }: KeyHelpProps) {
  const jumps = pages.map(({ key, name }): Help => [`g ${key}`, `go to ${name}`]);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <table className="table">
        <tbody>
          {[...general, ...jumps, ...others].map(([key, meaning]) => (
            <tr key={key}>
              <td>
                <kbd>{key}</kbd>
              </td>
              <td>{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <button type="button" className="button" onClick={onClose}>
        Close
      </button>
    </Dialog>
  );
}
