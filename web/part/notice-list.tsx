import { useSyncExternalStore } from 'react';
import { useWorkbench } from '../workbench.ts';

export function NoticeList() {
  const { notices } = useWorkbench();
  const all = useSyncExternalStore(notices.listen, () => notices.all);
  return (
    <div className="notices" role="status">
      {all.map(({ id, text, tone, undo }) => (
        <div key={id} className={`notice tone-${tone}`}>
          <p className="grow">{text}</p>
          {undo && (
            <button
              type="button"
              className="button"
              onClick={() => {
                undo();
                notices.remove(id);
              }}
            >
              Undo
            </button>
          )}
          <button type="button" className="button quiet" onClick={() => notices.remove(id)}>
            Close
          </button>
        </div>
      ))}
    </div>
  );
}
