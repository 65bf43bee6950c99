/** The frame of every page: navigation, connection state, keyboard help, notices. */
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { Gate } from './gate.tsx';
import { useAttempt } from './live/attempt.ts';
import { Badge, type Tone } from './part/basic.tsx';
import { Dialog } from './part/dialog.tsx';
import { Icon, type IconName } from './part/icon.tsx';
import { useKeys } from './part/keys.ts';
import { NoticeList } from './part/notice-list.tsx';
import { usePageFocus, usePageTitle } from './part/page-frame.ts';
import { ThemeSwitch } from './part/theme.tsx';
import { count } from './part/wording.ts';
import { useConnectionState, useRefusal, useWorkbench } from './workbench.ts';

const places = [
  { to: '/search', name: 'Search', icon: 'search', key: 's' },
  { to: '/add', name: 'Add', icon: 'add', key: 'a' },
  { to: '/jobs', name: 'Jobs', icon: 'jobs', key: 'j' },
  { to: '/inbox', name: 'Inbox', icon: 'inbox', key: 'i' },
  { to: '/corpora', name: 'Corpora', icon: 'corpora', key: 'c' },
  { to: '/batch', name: 'Batch', icon: 'batch', key: 'b' },
  { to: '/system', name: 'System', icon: 'system', key: 'y' },
] as const satisfies readonly { to: string; name: string; icon: IconName; key: string }[];

export function Shell() {
  const refusal = useRefusal();
  if (refusal !== 'none') return <Gate refusal={refusal} />;
  return <StepService />;
}

function StepService() {
  const navigate = useNavigate();
  const [isHelp, setHelp] = useState(false);
  const main = useRef<HTMLElement>(null);
  usePageTitle(main);
  usePageFocus(main);
  const jumps = places.map(({ to, key }) => [`g ${key}`, () => void navigate({ to })] as const);
  useKeys({
    ...Object.fromEntries(jumps),
    '?': () => setHelp(true),
    '/': () => {
      const field = main.current?.querySelector<HTMLElement>('search input');
      if (field) field.focus();
      else void navigate({ to: '/search' });
    },
  });
  return (
    <div className="shell">
      <button type="button" className="button skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header className="rail">
        <Link to="/jobs" className="brand">
          <img src="./favicon.svg" alt="" /> Pawl
        </Link>
        <nav aria-label="Pages">
          {places.map(({ to, name, icon }) => (
            <Link key={to} to={to} activeProps={{ 'aria-current': 'page' }}>
              <Icon name={icon} />
              {name}
              {name === 'Inbox' && <InboxCount />}
              {name === 'Add' && <AttemptMark />}
            </Link>
          ))}
        </nav>
        <div className="rail-foot">
          <ConnectionStatus />
          <span className="row wide">
            <ThemeSwitch />
            <button type="button" className="button quiet" onClick={() => setHelp(true)}>
              Keys <kbd>?</kbd>
            </button>
          </span>
        </div>
      </header>
      <main ref={main} className="main" tabIndex={-1}>
        <Banner />
        <Outlet />
      </main>
      <NoticeList />
      {isHelp && <KeyHelp onClose={() => setHelp(false)} />}
    </div>
  );
}

/** A running attempt is shown on every page, because it continues when its page is left. */
function AttemptMark() {
  const { data } = useAttempt();
  const tone = data && marks[data.status];
  if (!tone) return null;
  return (
    <span className="count mark">
      <Badge tone={tone}>{data.status}</Badge>
    </span>
  );
}

const marks: Readonly<Record<string, Tone>> = { running: 'run', stopping: 'warn', paused: 'warn' };

function InboxCount() {
  const { client } = useWorkbench();
  const { data } = useQuery({
    queryKey: ['inbox-count'],
    queryFn: ({ signal }) => client().ask('GET /inbox', { query: { limit: 1 }, signal }),
  });
  const total = data?.causes.reduce((sum, cause) => sum + cause.count, 0) ?? 0;
  if (total === 0) return null;
  return (
    <span className="count">
      <Badge tone="bad">{count(total)}</Badge>
    </span>
  );
}

const connectionLabels = {
  connecting: { tone: 'plain', text: 'Connecting…' },
  live: { tone: 'ok', text: 'Live' },
  offline: { tone: 'bad', text: 'Offline' },
  refused: { tone: 'warn', text: 'Refused' },
} as const;

function ConnectionStatus() {
  const connection = useConnectionState();
  const { tone, text } = connectionLabels[connection];
  return (
    <span className="row" data-connection={connection}>
      <Badge tone={tone}>{text}</Badge>
    </span>
  );
}

const banners = {
  offline:
    'Pawl is unreachable. This page shows the last known state and reconnects automatically.',
  refused:
    'The service refuses the event stream: it may be starting, or its Membership service ' +
    'may be unreachable. Nothing is lost. This page retries automatically.',
} as const;

function Banner() {
  const connection = useConnectionState();
  if (connection !== 'offline' && connection !== 'refused') return null;
  return (
    <div className="banner" role="status">
      {banners[connection]}
    </div>
  );
}

const helps: readonly (readonly [string, string])[] = [
  ['?', 'this help'],
  ['/', 'search'],
  ...places.map(({ key, name }): readonly [string, string] => [`g ${key}`, `go to ${name}`]),
  ['j k', 'next, previous row'],
  ['Enter', 'open the selected row'],
  ['r', 'inbox: retry'],
  ['d', 'inbox: discard'],
  ['R D', 'inbox: the same for all with this cause'],
];

function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <table className="table">
        <tbody>
          {helps.map(([key, meaning]) => (
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
