/** Keyboard shortcuts, active while nothing is being typed. */
import { useEffect, useRef } from 'react';

export type KeyTable = Readonly<Record<string, () => void>>;

const prefix = 'g';

/** `?` is one key; `g j` is a sequence. */
export function useKeys(table: KeyTable): void {
  const latest = useRef(table);
  latest.current = table;
  useEffect(() => {
    let before = '';
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]')) return;
      // After `g`, the next key belongs to the sequence, even if it has its own handler.
      const name = before === prefix ? `${prefix} ${event.key}` : event.key;
      const act = latest.current[name];
      before = event.key;
      if (!act) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}

/** As the keyboard of this machine names it. */
export const commandKey = /Mac|iP(hone|ad)/.test(navigator.platform) ? '⌘' : 'Ctrl';

/** A key with Ctrl or ⌘, which also works while something is being typed. */
export function useCommandKey(key: string, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== key || !(event.ctrlKey || event.metaKey)) return;
      if (event.altKey || event.shiftKey) return;
      event.preventDefault();
      if (!document.querySelector('dialog[open]')) latest.current();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [key]);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select');
}
