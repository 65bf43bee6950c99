/** A part that scrolls returns to its place when its page is opened again in this tab. */
import { type RefObject, useLayoutEffect, useRef } from 'react';

/** Restores once, as soon as the content is there; the key names what is shown. */
export function useKeptScroll(
  part: RefObject<HTMLElement | null>,
  { key, isReady }: { readonly key: string; readonly isReady: boolean },
): void {
  const place = `pawl.scroll ${key}`;
  const restored = useRef<string>(undefined);
  useLayoutEffect(() => {
    const element = part.current;
    if (!element || !isReady) return;
    if (restored.current === undefined) {
      element.scrollTop = Number(sessionStorage.getItem(place) ?? 0);
    }
    restored.current = place;
    const keep = (): void => sessionStorage.setItem(place, String(Math.round(element.scrollTop)));
    element.addEventListener('scroll', keep, { passive: true });
    return () => element.removeEventListener('scroll', keep);
  }, [part, place, isReady]);
}
