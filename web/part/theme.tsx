/** Light or dark: follows the system until the user chooses. */
import { useEffect, useState } from 'react';

const place = 'pawl.theme';
const choices = ['system', 'light', 'dark'] as const;
type Theme = (typeof choices)[number];

function isTheme(text: string | null): text is Theme {
  return choices.some((choice) => choice === text);
}

function readTheme(): Theme {
  const stored = localStorage.getItem(place);
  return isTheme(stored) ? stored : 'system';
}

export function applyTheme(theme: Theme = readTheme()): void {
  const isDark = theme === 'system' ? darkSystem().matches : theme === 'dark';
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
}

function darkSystem(): MediaQueryList {
  return matchMedia('(prefers-color-scheme: dark)');
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState(readTheme);
  useEffect(() => {
    applyTheme(theme);
    const follow = (): void => applyTheme();
    const system = darkSystem();
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }, [theme]);
  const turn = (): void => {
    const next = choices[(choices.indexOf(theme) + 1) % choices.length] ?? 'system';
    localStorage.setItem(place, next);
    setTheme(next);
  };
  return (
    <button
      type="button"
      className="button quiet"
      onClick={turn}
      title="Light, dark, or the system"
    >
      {`Theme: ${theme}`}
    </button>
  );
}
