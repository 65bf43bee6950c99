import { useSyncExternalStore } from 'react';

/** Whether the window is at least this wide. */
export function useWideScreen(widthPx: number): boolean {
  const list = matchMedia(`(min-width: ${widthPx}px)`);
  return useSyncExternalStore(
    (changed) => {
      list.addEventListener('change', changed);
      return () => list.removeEventListener('change', changed);
    },
    () => list.matches,
  );
}
