/**
 * Limits connections without an authenticated request. A client that never sends a complete request
 * would block others, so their number is bounded and the oldest is closed for the newest. Before
 * the limit is reached, idle connections are closed. A server that closes leaves none open, not
 * even those whose response ends after that.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';

type ConnectionLimits = Readonly<
  Record<'connectionsMax' | 'silentConnectionsMax' | 'idleConnectionsFactor', number>
>;

export function guardConnections(
  server: Server,
  {
    connectionsMax,
    silentConnectionsMax,
    idleConnectionsFactor,
  }: ConnectionLimits = limits.request,
): void {
  /** In order of arrival. */
  const silent = new Set<Socket>();
  let open = 0;
  server.maxConnections = connectionsMax;
  server.on('connection', (socket: Socket) => {
    open += 1;
    silent.add(socket);
    socket.once('close', () => {
      open -= 1;
      silent.delete(socket);
    });
    const [oldest] = silent;
    if (oldest && silent.size > silentConnectionsMax) {
      silent.delete(oldest);
      oldest.destroy();
    }
    if (open > connectionsMax * idleConnectionsFactor) server.closeIdleConnections();
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    silent.delete(socket);
    response.once('close', () => {
      if (!server.listening) socket.destroySoon();
    });
  });
}

/**
 * Sends the last response on a connection and ends it. The client gets a moment to read it, because
 * destroying the connection immediately would lose it.
 */
export function endConnection(socket: Socket, lastWords: string, world: World): void {
  socket.end(lastWords);
  const cancel = world.setTimer(() => socket.destroy(), limits.request.lingerMs);
  socket.once('close', cancel);
}
