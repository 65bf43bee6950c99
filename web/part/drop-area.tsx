/** Files and folders may be dropped on any page. The page "Add" then shows them. */
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { readDropped } from '../page/chosen-file.ts';
import { useWorkbench } from '../workbench.ts';

const hasFiles = ({ dataTransfer }: DragEvent): boolean =>
  dataTransfer?.types.includes('Files') === true;

export function DropArea(): ReactNode {
  const { dropped } = useWorkbench();
  const navigate = useNavigate();
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = ({ relatedTarget }: DragEvent): void => {
      if (relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent): void => {
      setOver(false);
      if (!hasFiles(event) || !event.dataTransfer) return;
      // A browser would leave the workbench and show the file.
      event.preventDefault();
      void readDropped(event.dataTransfer.items).then(async (files) => {
        dropped.give(files);
        await navigate({ to: '/add', ignoreBlocker: true });
      });
    };
    const listeners = { dragover: over, dragleave: leave, drop } as const;
    for (const [name, listener] of Object.entries(listeners)) {
      document.addEventListener(name, listener as EventListener);
    }
    return () => {
      for (const [name, listener] of Object.entries(listeners)) {
        document.removeEventListener(name, listener as EventListener);
      }
    };
  }, [dropped, navigate]);
  if (!isOver) return null;
  return (
    <div className="drop-area" role="status">
      Drop files or folders to add them
    </div>
  );
}
