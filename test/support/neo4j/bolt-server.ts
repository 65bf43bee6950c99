/**
 * A server on a free port that speaks Bolt 5.3 to Neo4j's official driver, with serialized
 * transactions on a graph in memory (`graph.ts`). A test can order faults for a statement.
 */

import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import type { Cleanup } from '../temporary.ts';
import { emptyGraph, type Graph, type Row, runStatement } from './graph.ts';
import { type Message, type Packed, packMessage, unpackMessage } from './pack-stream.ts';

const tags = {
  hello: 0x01,
  goodbye: 0x02,
  reset: 0x0f,
  run: 0x10,
  begin: 0x11,
  commit: 0x12,
  rollback: 0x13,
  discard: 0x2f,
  pull: 0x3f,
  route: 0x66,
  logon: 0x6a,
  logoff: 0x6b,
  success: 0x70,
  record: 0x71,
  ignored: 0x7e,
  failure: 0x7f,
} as const;

const handshakeBytes = 20;
const version = Buffer.from([0, 0, 3, 5]);

export interface BoltTrouble {
  readonly on: RegExp;
  readonly code: string;
  times: number;
  /** The statement is carried out, and then the connection is cut instead of a response. */
  readonly isAfter?: boolean;
}

export class BoltServer {
  graph: Graph = emptyGraph();
  password: string | undefined;
  readonly statements: string[] = [];
  readonly troubles: BoltTrouble[] = [];
  readonly #server = createServer((socket) => new Connection(socket, this));
  readonly #sockets = new Set<Socket>();
  #turn: Promise<void> = Promise.resolve();

  async start(t: Cleanup): Promise<this> {
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    t.after(() => this.close());
    return this;
  }

  get url(): string {
    return `bolt://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  /** Resolves when it is the caller's turn, with the function that ends the turn. */
  async begin(): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#turn;
    this.#turn = before.then(() => promise);
    await before;
    return resolve;
  }
}

class BoltError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

interface OpenTransaction {
  readonly end: () => void;
  /**
   * The state that a rollback restores; absent for a single statement, which fails before it
   * begins.
   */
  readonly before?: Graph;
}

class Connection {
  readonly #socket: Socket;
  readonly #server: BoltServer;
  #bytes = Buffer.alloc(0);
  #parts: Buffer[] = [];
  #isShaken = false;
  #isFailed = false;
  #isLate = false;
  #queue: Promise<void> = Promise.resolve();
  #rows: Row[] = [];
  #open: OpenTransaction | undefined;

  constructor(socket: Socket, server: BoltServer) {
    this.#socket = socket;
    this.#server = server;
    socket.on('data', (bytes) => this.#take(bytes));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#queue = this.#queue.then(() => this.#rollBack());
    });
  }

  #take(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    if (!this.#isShaken) {
      if (this.#bytes.length < handshakeBytes) return;
      this.#bytes = this.#bytes.subarray(handshakeBytes);
      this.#isShaken = true;
      this.#socket.write(version);
    }
    while (this.#bytes.length >= 2) {
      const length = this.#bytes.readUInt16BE();
      if (this.#bytes.length < 2 + length) return;
      const part = this.#bytes.subarray(2, 2 + length);
      this.#bytes = this.#bytes.subarray(2 + length);
      if (length > 0) this.#parts.push(part);
      else if (this.#parts.length > 0) {
        const message = unpackMessage(Buffer.concat(this.#parts.splice(0)));
        this.#queue = this.#queue.then(() => this.#answer(message));
      }
    }
  }

  async #answer(message: Message): Promise<void> {
    const { tag } = message;
    if (tag === tags.goodbye) return void this.#socket.end();
    if (tag === tags.reset) {
      this.#rollBack();
      this.#isFailed = false;
    } else if (this.#isFailed) {
      return this.#send(tags.ignored);
    }
    try {
      const answer = await this.#serve(message);
      if (this.#isLate) this.#socket.destroy();
      else this.#send(tags.success, answer);
    } catch (error) {
      if (!(error instanceof BoltError)) throw error;
      this.#isFailed = true;
      this.#rollBack();
      this.#send(tags.failure, { code: error.code, message: error.message });
    }
  }

  async #serve({ tag, fields }: Message): Promise<Record<string, Packed>> {
    switch (tag) {
      case tags.hello:
        return { server: 'Neo4j/5.26.0', connection_id: 'bolt-1', hints: {} };
      case tags.logon:
        return this.#logOn(fields[0] as Record<string, string>);
      case tags.begin:
        await this.#begin(false);
        return {};
      case tags.run:
        return this.#run(fields[0] as string, fields[1] as Row);
      case tags.pull:
        return this.#pull();
      case tags.discard:
        this.#rows = [];
        return this.#pull();
      case tags.commit:
        this.#end();
        return { bookmark: 'b1' };
      case tags.rollback:
        this.#rollBack();
        return {};
      case tags.reset:
      case tags.logoff:
        return {};
      case tags.route: {
        const addresses = [new URL(this.#server.url).host];
        const servers = ['WRITE', 'READ', 'ROUTE'].map((role) => ({ addresses, role }));
        return { rt: { ttl: 300, db: 'neo4j', servers } };
      }
      default:
        throw new BoltError('Neo.ClientError.Request.Invalid', `message 0x${tag.toString(16)}`);
    }
  }

  #logOn({ credentials }: Record<string, string>): Record<string, Packed> {
    const { password } = this.#server;
    if (password === undefined || password === credentials) return {};
    throw new BoltError('Neo.ClientError.Security.Unauthorized', 'the password is wrong');
  }

  async #run(text: string, given: Row): Promise<Record<string, Packed>> {
    this.#server.statements.push(text);
    if (!this.#open) await this.#begin(true);
    const trouble = this.#server.troubles.find(({ on, times }) => times > 0 && on.test(text));
    if (trouble) trouble.times -= 1;
    if (trouble && !trouble.isAfter) throw new BoltError(trouble.code, 'ordered by the test');
    const rows = runStatement(this.#server.graph, text, given);
    if (!rows) throw new BoltError('Neo.ClientError.Statement.SyntaxError', `unknown: ${text}`);
    this.#rows = rows;
    if (trouble?.isAfter) {
      this.#end();
      this.#isLate = true;
    }
    return { fields: Object.keys(rows[0] ?? columnsOf(text)), t_first: 0 };
  }

  #pull(): Record<string, Packed> {
    for (const row of this.#rows.splice(0)) this.#send(tags.record, Object.values(row));
    if (!this.#open?.before) this.#end();
    return { has_more: false, type: 'rw', db: 'neo4j', t_last: 0 };
  }

  async #begin(isOwn: boolean): Promise<void> {
    const end = await this.#server.begin();
    this.#open = isOwn ? { end } : { end, before: structuredClone(this.#server.graph) };
  }

  #end(): void {
    this.#open?.end();
    this.#open = undefined;
  }

  #rollBack(): void {
    if (this.#open?.before) this.#server.graph = this.#open.before;
    this.#end();
  }

  #send(tag: number, field?: Packed): void {
    const bytes = packMessage({ tag, fields: field === undefined ? [] : [field] });
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += 0xffff) {
      const part = bytes.subarray(at, at + 0xffff);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(part.length);
      chunks.push(length, part);
    }
    if (!this.#socket.destroyed) this.#socket.write(Buffer.concat([...chunks, Buffer.alloc(2)]));
  }
}

/** The names of columns are known even if there is no row. */
function columnsOf(text: string): Record<string, null> {
  const names = [...text.matchAll(/ AS (\w+)/g)].map(([, name = '']) => name);
  return text.includes('RETURN') ? Object.fromEntries(names.map((name) => [name, null])) : {};
}
