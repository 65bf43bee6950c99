/** What stands around every page: navigation, the state of the connection, keys, receipts. */
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Gate } from './gate.tsx';
import { useAttempt } from './live/attempt.ts';
import { Badge, type Tone } from './part/basic.tsx';
import { Dialog } from './part/dialog.tsx';
import { Icon, type IconName } from './part/icon.tsx';
import { useKeys } from './part/keys.ts';
import { NoticeList } from './part/notice-list.tsx';
import { ThemeSwitch } from './part/theme.tsx';
import { count } from './part/wording.ts';
import { useRefusal, useStanding, useWorkbench } from './workbench.ts';

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
  const jumps = places.map(({ to, key }) => [`g ${key}`, () => void navigate({ to })] as const);
  useKeys({
    ...Object.fromEntries(jumps),
    '?': () => setHelp(true),
    '/': () => void navigate({ to: '/search' }),
  });
  return (
    <div className="shell">
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
          <Standing />
          <span className="row wide">
            <ThemeSwitch />
            <button type="button" className="button quiet" onClick={() => setHelp(true)}>
              Keys <kbd>?</kbd>
            </button>
          </span>
        </div>
      </header>
      <main className="main">
        <Banner />
        <Outlet />
      </main>
      <NoticeList />
      {isHelp && <KeyHelp onClose={() => setHelp(false)} />}
    </div>
  );
}

/** An attempt goes on when its page is left: it is seen from everywhere. */
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

const standings = {
  connecting: { tone: 'plain', text: 'Connecting…' },
  live: { tone: 'ok', text: 'Live' },
  offline: { tone: 'bad', text: 'Offline' },
  refused: { tone: 'warn', text: 'Refused' },
} as const;

function Standing() {
  const standing = useStanding();
  const { tone, text } = standings[standing];
  return (
    <span className="row" data-standing={standing}>
      <Badge tone={tone}>{text}</Badge>
    </span>
  );
}

const banners = {
  offline:
    'Pawl cannot be reached. What is shown is the last that was known; ' +
    'this page goes on by itself when the service is back.',
  refused:
    'The service refuses to tell what happens: it may be starting, or its Membership service may ' +
    'be away. Nothing is lost; this page tries again by itself.',
} as const;

function Banner() {
  const standing = useStanding();
  if (standing !== 'offline' && standing !== 'refused') return null;
  return (
    <div className="banner" role="status">
      {banners[standing]}
    </div>
  );
}

const helps: readonly (readonly [string, string])[] = [
  ['?', 'these keys'],
  ['/', 'search'],
  ...places.map(({ key, name }): readonly [string, string] => [`g ${key}`, `go to ${name}`]),
  ['j k', 'next, previous in a list'],
  ['Enter', 'open what is chosen'],
  ['r', 'inbox: try again'],
  ['d', 'inbox: discard'],
  ['R D', 'inbox: the same for all of that cause'],
];

function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
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
