/**
 * Events as they happen, to many clients. A client that keeps up is handed what everyone is handed.
 * One that does not is handed nothing more: when it has read what was sent, it reads the log, after
 * the last event that it was sent, until it has caught up. So what waits in memory for a client is
 * never more than its connection's own buffer, and no event is lost or sent twice.
 */
import type { ServerResponse } from 'node:http';
import { Failure } from '../kernel/failure.ts';
import { job as jobMachine } from '../kernel/job.ts';
import { limits } from '../kernel/limits.ts';
import { isFinal } from '../kernel/machine.ts';
import type { World } from '../kernel/world.ts';
import type { Database } from '../store/database.ts';
import { getJobById } from '../store/jobs.ts';
import type { News, NewsPage, Told } from './news.ts';
import type { ProgressBoard, Working } from './progress-board.ts';

export interface StreamsOptions {
  readonly database: Database;
  readonly news: News;
  readonly progress: ProgressBoard;
  readonly world: World;
  readonly onError: (what: string, error: unknown) => void;
}

export interface StreamRequest {
  readonly caller: string;
  /** All that is the caller's, where absent. */
  readonly jobId?: number | undefined;
  readonly after: number;
}

export class Streams {
  readonly #options: StreamsOptions;
  readonly #clients = new Set<Client>();
  #cancelTick: (() => void) | undefined;

  constructor(options: StreamsOptions) {
    this.#options = options;
    options.news.listen((told) => this.#handOut(told));
    options.progress.listen((jobId, itemId, working) => this.#progress(jobId, itemId, working));
  }

  get size(): number {
    return this.#clients.size;
  }

  /** To be called before the answer begins: a refusal is an answer of its own. */
  checkRoom(caller: string): void {
    let own = 0;
    for (const client of this.#clients) if (client.request.caller === caller) own += 1;
    const { streamsMax, streamsPerCallerMax } = limits.event;
    if (own < streamsPerCallerMax && this.#clients.size < streamsMax) return;
    throw new Failure('too_many_streams', `${own} streams of yours are open`);
  }

  open(request: StreamRequest, response: ServerResponse): void {
    const client = new Client(request, response, this.#options);
    this.#clients.add(client);
    response.once('close', () => {
      client.close();
      this.#clients.delete(client);
      if (this.#clients.size === 0) this.#stopTicking();
    });
    if (this.#cancelTick === undefined) this.#tick();
    client.catchUp();
  }

  /** Ends all streams, and tells the clients when to come back. */
  close(): void {
    this.#stopTicking();
    for (const client of this.#clients) client.sendAway();
  }

  #handOut(told: readonly Told[]): void {
    for (const client of this.#clients) client.see(told);
    for (const { event } of told) if (ownerKinds.has(event.kind)) this.#sendAwayFrom(event);
  }

  /** Whoever comes back is asked again who it is, and whose the job is now. */
  #sendAwayFrom({ jobId, detail }: Told['event']): void {
    for (const client of this.#clients) {
      const { request } = client;
      const isMoved = jobId !== null && request.jobId === jobId;
      if (isMoved || request.caller === detail?.from) client.sendAway();
    }
  }

  #progress(jobId: number, itemId: number, working: Working): void {
    if (this.#clients.size === 0) return;
    const owner = this.#options.news.ownerOf(jobId);
    if (!owner) return;
    const shape = { job_id: owner.key, item_id: itemId, ...working };
    const text = `event: progress\ndata: ${JSON.stringify(shape)}\n\n`;
    for (const client of this.#clients) {
      const { caller, jobId: wanted } = client.request;
      if (wanted === jobId || (wanted === undefined && caller === owner.caller)) client.say(text);
    }
  }

  /** Told, not stored: it has no number, and who comes back asks for what is so by then. */
  tell(caller: string, event: string, shape: object): void {
    const text = `event: ${event}\ndata: ${JSON.stringify(shape)}\n\n`;
    for (const client of this.#clients) {
      const { request } = client;
      if (request.jobId === undefined && request.caller === caller) client.say(text);
    }
  }

  #tick(): void {
    const { world } = this.#options;
    this.#cancelTick = world.setTimer(() => {
      this.#tick();
      const oldest = world.now() - limits.event.streamAgeMsMax;
      for (const client of this.#clients) {
        if (client.openedAt < oldest) client.sendAway();
        else client.say(': still here\n\n');
      }
    }, limits.event.streamCommentMs);
  }

  #stopTicking(): void {
    this.#cancelTick?.();
    this.#cancelTick = undefined;
  }
}

/** After these, some streams are no longer of the caller who opened them. */
const ownerKinds: ReadonlySet<string> = new Set(['job_moved', 'caller_merged']);

class Client {
  readonly request: StreamRequest;
  readonly openedAt: number;
  readonly #response: ServerResponse;
  readonly #options: StreamsOptions;
  #state: 'behind' | 'live' | 'closed' = 'behind';
  #after: number;
  #drained: (() => void) | undefined;

  constructor(request: StreamRequest, response: ServerResponse, options: StreamsOptions) {
    this.request = request;
    this.openedAt = options.world.now();
    this.#response = response;
    this.#options = options;
    this.#after = request.after;
    response.on('drain', () => this.#drained?.());
  }

  /** What is new, if this client is up to date; otherwise it will find it in the log. */
  see(told: readonly Told[]): void {
    if (this.#state !== 'live') return;
    for (const each of told) {
      if (!this.#isFor(each)) continue;
      const isRoom = this.#send(each);
      if (each.isEnd && this.request.jobId !== undefined) {
        this.#end();
        return;
      }
      if (isRoom) continue;
      this.#state = 'behind';
      void this.#whenDrained().then(() => this.catchUp());
      return;
    }
  }

  /** What is lost if there is no room for it. */
  say(text: string): void {
    if (this.#state !== 'closed' && !this.#response.writableNeedDrain) this.#response.write(text);
  }

  catchUp(): void {
    this.#readOn().catch((error) => {
      this.#options.onError('stream', error);
      this.sendAway();
    });
  }

  sendAway(): void {
    if (this.#state === 'closed') return;
    this.#response.write(`retry: ${limits.event.streamRetryMs}\n\n`);
    this.#end();
  }

  close(): void {
    this.#state = 'closed';
    this.#drained?.();
  }

  async #readOn(): Promise<void> {
    const { news } = this.#options;
    while (this.#state === 'behind') {
      const { position } = news;
      // Asked before the events are read: if it has ended, then all of them are there to be read.
      const hasEnded = await this.#hasEnded();
      const page = await this.#readPage();
      const last = await this.#sendAll(page.told);
      this.#after = Math.max(this.#after, page.last);
      if (page.isFull || (last?.isEnd && !hasEnded)) continue;
      if (hasEnded) this.#end();
      // No event can come between this question and the answer to it.
      else if (news.position === position && this.#state === 'behind') this.#state = 'live';
    }
  }

  #readPage(): Promise<NewsPage> {
    const { caller, jobId } = this.request;
    const limit = jobId === undefined ? limits.event.pageMax : limits.event.streamPageMax;
    return this.#options.news.read({ caller, jobId, after: this.#after, limit });
  }

  async #sendAll(told: readonly Told[]): Promise<Told | undefined> {
    let last: Told | undefined;
    for (const each of told) {
      if (this.#state === 'closed') return undefined;
      last = each;
      if (!this.#send(each)) await this.#whenDrained();
    }
    return last;
  }

  async #hasEnded(): Promise<boolean> {
    const { jobId } = this.request;
    if (jobId === undefined) return false;
    const row = await getJobById(this.#options.database, jobId);
    return row === undefined || isFinal(jobMachine, row.state);
  }

  #isFor({ event, caller }: Told): boolean {
    if (event.seq <= this.#after) return false;
    const { jobId } = this.request;
    return jobId === undefined ? caller === this.request.caller : event.jobId === jobId;
  }

  #send(told: Told): boolean {
    this.#after = told.event.seq;
    return this.#response.write(told.text());
  }

  async #whenDrained(): Promise<void> {
    if (this.#state === 'closed' || !this.#response.writableNeedDrain) return;
    await new Promise<void>((resolve) => (this.#drained = resolve));
    this.#drained = undefined;
  }

  #end(): void {
    this.#state = 'closed';
    this.#drained?.();
    this.#response.end();
  }
}
