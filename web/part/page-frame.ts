/** What a browser does for pages of their own, and a single page has to do itself. */
import { useRouterState } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef } from 'react';

type Main = RefObject<HTMLElement | null>;

/** The title of the window follows the heading, which may load later than the page. */
export function usePageTitle(main: Main): void {
  useEffect(() => {
    const root = main.current;
    if (!root) return;
    const follow = (): void => {
      const heading = root.querySelector('h1')?.textContent;
      document.title = heading ? `${heading} · Pawl` : 'Pawl';
    };
    follow();
    const observer = new MutationObserver(follow);
    observer.observe(root, { childList: true, subtree: true, characterData: true });
    return () => observer.disconnect();
  }, [main]);
}

/** A new page gets the focus, unless one of its fields has it. The first page does not. */
export function usePageFocus(main: Main): void {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    if (!main.current?.contains(document.activeElement)) main.current?.focus();
  }, [path, main]);
}
