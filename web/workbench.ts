/** The services that every part of the workbench uses, created once and passed down. */
import { QueryCache, QueryClient } from '@tanstack/react-query';
import { createContext, use, useSyncExternalStore } from 'react';
import { Client } from '../src/client/http.ts';
import { Failure, isRetried } from '../src/kernel/failure/failure.ts';
import { refreshAttempt } from './live/attempt.ts';
import { Connection, type ConnectionState } from './live/connection.ts';
import { Discards } from './live/discards.ts';
import { DroppedFiles } from './live/dropped.ts';
import { Keyring } from './live/keyring.ts';
import { Live } from './live/live.ts';
import { Notices } from './part/notices.ts';

export interface Workbench {
  readonly client: () => Client;
  readonly queries: QueryClient;
  readonly connection: Connection;
  readonly keyring: Keyring;
  readonly live: Live;
  readonly notices: Notices;
  readonly discards: Discards;
  readonly dropped: DroppedFiles;
}

const retriesMax = 3;

export function makeWorkbench(): Workbench {
  const keyring = new Keyring();
  const connection = new Connection();
  const client = (): Client =>
    new Client({ url: location.origin, key: keyring.key, fetch: connection.fetch });
  const queries = new QueryClient({
    queryCache: new QueryCache({ onError: (error) => noteRefusal(error, keyring) }),
    defaultOptions: {
      queries: {
        // The service may be local, and then the browser reaches it without a network.
        networkMode: 'always',
        retry: (count, error) => count < retriesMax && isWorthAgain(error),
        staleTime: 5000,
        refetchOnWindowFocus: false,
      },
      mutations: { networkMode: 'always', onError: (error) => noteRefusal(error, keyring) },
    },
  });
  const live = new Live({ client, queries, onError: (error) => noteRefusal(error, keyring) });
  const notices = new Notices();
  const discards = new Discards({
    client,
    keyring,
    onDone: () => void queries.invalidateQueries({ queryKey: ['inbox'] }),
    onError: (error) => notices.tell(String(error), { tone: 'bad' }),
  });
  const dropped = new DroppedFiles();
  return { client, queries, connection, keyring, live, notices, discards, dropped };
}

/** Retries failed queries when the service is reachable again. */
export function followConnection({ connection, keyring, live, queries }: Workbench): void {
  let before: ConnectionState = connection.state;
  connection.listen(() => {
    const { state } = connection;
    const isBack = state === 'live' && before !== 'live' && before !== 'connecting';
    before = state;
    // Messages sent before the stream opened were not received.
    if (state === 'live') void refreshAttempt(queries);
    const predicate = ({ queryKey, state }: { queryKey: readonly unknown[]; state: Status }) =>
      queryKey[0] !== 'jobs' || state.status === 'error';
    if (isBack) void queries.refetchQueries({ type: 'active', predicate });
  });
  keyring.listen(() => {
    if (keyring.refusal !== 'none') return live.stop();
    queries.clear();
    live.start();
  });
  live.start();
  pauseWhenHidden(live, keyring);
}

const hiddenMsMax = 60_000;

/** Browsers limit the connections per server, so a hidden page closes its stream. */
function pauseWhenHidden(live: Live, keyring: Keyring): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isPaused = false;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.hidden) {
      timer = setTimeout(() => {
        isPaused = true;
        live.stop();
      }, hiddenMsMax);
    } else if (isPaused && keyring.refusal === 'none') {
      isPaused = false;
      live.start();
    }
  });
}

interface Status {
  readonly status: string;
}

function noteRefusal(error: unknown, keyring: Keyring): void {
  if (error instanceof Failure && error.code === 'unauthorized') keyring.refuse();
}

function isWorthAgain(error: unknown): boolean {
  return error instanceof Failure && isRetried(error.code);
}

export const WorkbenchContext = createContext<Workbench | undefined>(undefined);

export function useWorkbench(): Workbench {
  const workbench = use(WorkbenchContext);
  if (!workbench) throw new Error('the workbench is not there');
  return workbench;
}

export function useConnectionState(): ConnectionState {
  const { connection } = useWorkbench();
  return useSyncExternalStore(connection.listen, () => connection.state);
}

export function useRefusal(): Keyring['refusal'] {
  const { keyring } = useWorkbench();
  return useSyncExternalStore(keyring.listen, () => keyring.refusal);
}
