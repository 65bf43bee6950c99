/** Confirmation and help dialogs. The native dialog element keeps the focus inside. */
import { type ReactNode, useEffect, useId, useRef } from 'react';

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    if (!element.current?.open) element.current?.showModal();
  }, []);
  return (
    <dialog ref={element} onClose={onClose} aria-labelledby={id}>
      <div className="stack">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

export interface ConfirmProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly verb: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export function Confirm({ title, children, verb, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div>{children}</div>
      <div className="row">
        <button
          type="button"
          className="button danger"
          onClick={() => {
            onConfirm();
            onClose();
          }}
        >
          {verb}
        </button>
        <button type="button" className="button" onClick={onClose}>
          Keep
        </button>
      </div>
    </Dialog>
  );
}
