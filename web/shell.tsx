/** The frame of every page: navigation, connection state, keyboard help, notices. */
import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useRef, useState } from 'react';
import { useAttempt } from './live/attempt.ts';
import { Badge, type Tone } from './part/basic.tsx';
import { DropArea } from './part/drop-area.tsx';
import { Icon, type IconName } from './part/icon.tsx';
import { useInboxTotal } from './part/inbox-total.ts';
import { commandKey, useCommandKey, useKeys } from './part/keys.ts';
import { NoticeList } from './part/notice-list.tsx';
import { usePageFocus, usePageTitle } from './part/page-frame.ts';
import { ThemeSwitch } from './part/theme.tsx';
import { count } from './part/wording.ts';
import { useConnectionState, useRefusal } from './workbench.ts';

const places = [
  { to: '/', name: 'Home', icon: 'home', key: 'h' },
  { to: '/search', name: 'Search', icon: 'search', key: 's' },
  { to: '/add', name: 'Add', icon: 'add', key: 'a' },
  { to: '/jobs', name: 'Jobs', icon: 'jobs', key: 'j' },
  { to: '/inbox', name: 'Inbox', icon: 'inbox', key: 'i' },
  { to: '/corpora', name: 'Corpora', icon: 'corpora', key: 'c' },
  { to: '/sources', name: 'Sources', icon: 'sources', key: 'o' },
  { to: '/batch', name: 'Batch', icon: 'batch', key: 'b' },
  { to: '/system', name: 'Health', icon: 'system', key: 'y' },
] as const satisfies readonly { to: string; name: string; icon: IconName; key: string }[];

/** None is needed for the first page. */
const Gate = lazy(async () => ({ default: (await import('./gate.tsx')).Gate }));
const KeyHelp = lazy(async () => ({ default: (await import('./key-help.tsx')).KeyHelp }));
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));

type Opened = 'help' | 'palette' | 'nothing';

export function Shell() {
  const refusal = useRefusal();
  if (refusal !== 'none') {
    return (
      <Suspense>
        <Gate refusal={refusal} />
      </Suspense>
    );
  }
  return <StepService />;
}

function StepService() {
  const navigate = useNavigate();
  const [opened, setOpened] = useState<Opened>('nothing');
  const close = (): void => setOpened('nothing');
  const main = useRef<HTMLElement>(null);
  usePageTitle(main);
  usePageFocus(main);
  const jumps = places.map(({ to, key }) => [`g ${key}`, () => void navigate({ to })] as const);
  useKeys({
    ...Object.fromEntries(jumps),
    '?': () => setOpened('help'),
    '/': () => {
      const field = main.current?.querySelector<HTMLElement>('search input');
      if (field) field.focus();
      else void navigate({ to: '/search' });
    },
  });
  useCommandKey('k', () => setOpened('palette'));
  return (
    <div className="shell">
      <button type="button" className="button skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header className="rail">
        <Link to="/" className="brand">
          <img src="./favicon.svg" alt="" /> Pawl
        </Link>
        <nav aria-label="Pages">
          {places.map(({ to, name, icon }) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: to === '/' }}
              activeProps={{ 'aria-current': 'page' }}
            >
              <Icon name={icon} />
              {name}
              {name === 'Inbox' && <InboxCount />}
              {name === 'Add' && <AttemptMark />}
            </Link>
          ))}
        </nav>
        <RailFoot onOpen={setOpened} />
      </header>
      <main ref={main} className="main" tabIndex={-1}>
        <Banner />
        <Outlet />
      </main>
      <NoticeList />
      <DropArea />
      <Suspense>
        {opened === 'help' && <KeyHelp pages={places} onClose={close} />}
        {opened === 'palette' && <Palette pages={places} onClose={close} />}
      </Suspense>
    </div>
  );
}

function RailFoot({ onOpen }: { onOpen: (opened: Opened) => void }) {
  return (
    <div className="rail-foot">
      <ConnectionStatus />
      <span className="row wide">
        <button type="button" className="button quiet" onClick={() => onOpen('palette')}>
          Jump to <kbd>{commandKey} K</kbd>
        </button>
        <ThemeSwitch />
        <button type="button" className="button quiet" onClick={() => onOpen('help')}>
          Keys <kbd>?</kbd>
        </button>
      </span>
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
  const total = useInboxTotal();
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
