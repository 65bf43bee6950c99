/** Shows the current search as a command, a tool call or a program, to be copied. */
import { useState } from 'react';
import { Segments } from '../../part/choice.tsx';
import { Dialog } from '../../part/dialog.tsx';
import { useWorkbench } from '../../workbench.ts';
import { type Form, writtenAs } from './copy-as.ts';
import type { SearchBody } from './request.ts';

const forms = [
  { value: 'curl', name: 'cURL' },
  { value: 'mcp', name: 'MCP' },
  { value: 'code', name: 'Code' },
] as const;

export function CopyAs({ body }: { body: SearchBody }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="button quiet" onClick={() => setOpen(true)}>
        Copy as…
      </button>
      {isOpen && <CopyDialog body={body} onClose={() => setOpen(false)} />}
    </>
  );
}

function CopyDialog({ body, onClose }: { body: SearchBody; onClose: () => void }) {
  const { keyring, notices } = useWorkbench();
  const [form, setForm] = useState<Form>('curl');
  const text = writtenAs(form, body, {
    address: location.origin,
    hasKey: keyring.key !== undefined,
  });
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      notices.tell('Copied.');
      onClose();
    } catch {
      notices.tell('The browser does not allow this page to copy: select the text instead.', {
        tone: 'bad',
      });
    }
  };
  return (
    <Dialog title="Copy this search" onClose={onClose}>
      <Segments label="Copy as" options={forms} value={form} onChange={setForm} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is reached by key */}
      <pre className="output" dir="ltr" tabIndex={0}>
        {text}
      </pre>
      <div className="row">
        <button type="button" className="button primary" onClick={() => void copy()}>
          Copy
        </button>
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
