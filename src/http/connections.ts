/**
 * Connections without a key. Whoever connects and never makes a whole request takes a place that
 * others need: there are only so many of these at once, and the oldest makes room for the newest.
 * Before all places are taken, connections that wait for nothing are closed.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';

export function guardConnections(server: Server): void {
  const { connectionsMax, silentConnectionsMax, idleConnectionsFactor } = limits.request;
  /** In the order in which they came. */
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
  server.on('request', ({ socket }: IncomingMessage) => silent.delete(socket));
}

/**
 * Says the last words on a connection and ends it. Whoever keeps the other half open is given a
 * moment to read them; a connection that is destroyed at once would lose them on the way.
 */
export function endConnection(socket: Socket, lastWords: string, world: World): void {
  socket.end(lastWords);
  const cancel = world.setTimer(() => socket.destroy(), limits.request.lingerMs);
  socket.once('close', cancel);
}
