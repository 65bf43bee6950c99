/**
 * Events as they happen, to many clients. A client that keeps up is handed what everyone is handed.
 * One that does not is handed nothing more: when it has read what was sent, it reads the log, after
 * the last event that it was sent, until it has caught up. So what waits in memory for a client is
 * never more than its connection's own buffer, and no event is lost or sent twice. The stream of a
 * job also carries the job itself, as a message without a name or number, at each change of status.
 */
import type { ServerResponse } from 'node:http';
import { Failure } from '../../kernel/failure/failure.ts';
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import { job as jobMachine } from '../../kernel/lifecycle/job.ts';
import { isFinal } from '../../kernel/lifecycle/machine.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { Database } from '../../store/driver/database.ts';
import type { ProgressBoard, Working } from '../view/progress-board.ts';
import { JobLooks, type JobName, type LookedJob } from './job-status-reader.ts';
import { JobStatuses } from './job-statuses.ts';
import type { News, NewsPage, Told } from './news.ts';

export interface StreamsOptions {
  readonly database: Database;
  readonly news: News;
  readonly progress: ProgressBoard;
  readonly lifecycle: Lifecycle;
  readonly world: World;
  readonly onError: (what: string, error: unknown) => void;
}

export interface StreamRequest {
  readonly caller: string;
  /** All that is the caller's, where absent. */
  readonly job?: JobName | undefined;
  readonly after: number;
}

export class Streams {
  readonly #options: StreamsOptions;
  readonly #clients = new Set<Client>();
  readonly #looks: JobLooks;
  #cancelTick: (() => void) | undefined;

  constructor(options: StreamsOptions) {
    this.#options = options;
    this.#looks = new JobLooks({
      ...options,
      onLooked: (jobId, job) => {
        for (const client of this.#clients) {
          if (client.request.job?.id === jobId) client.consider(job);
        }
      },
    });
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
    const client = new Client(request, response, { ...this.#options, looks: this.#looks });
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
    this.#looks.stop();
    for (const client of this.#clients) client.sendAway();
  }

  #handOut(told: readonly Told[]): void {
    for (const client of this.#clients) {
      const { job } = client.request;
      if (client.see(told) && job) this.#looks.ask(job);
    }
    for (const { event } of told) if (ownerKinds.has(event.kind)) this.#sendAwayFrom(event);
  }

  /** Whoever comes back is asked again who it is, and whose the job is now. */
  #sendAwayFrom({ jobId, detail }: Told['event']): void {
    for (const client of this.#clients) {
      const { request } = client;
      const isMoved = jobId !== null && request.job?.id === jobId;
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
      const { caller, job } = client.request;
      const wanted = job?.id;
      if (wanted === jobId || (wanted === undefined && caller === owner.caller)) client.say(text);
    }
  }

  /** Told, not stored: it has no number, and who comes back asks for what is so by then. */
  tell(caller: string, event: string, shape: object): void {
    const text = `event: ${event}\ndata: ${JSON.stringify(shape)}\n\n`;
    for (const client of this.#clients) {
      const { request } = client;
      if (request.job === undefined && request.caller === caller) client.say(text);
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

interface ClientParts extends StreamsOptions {
  readonly looks: JobLooks;
}

class Client {
  readonly request: StreamRequest;
  readonly openedAt: number;
  readonly #response: ServerResponse;
  readonly #parts: ClientParts;
  readonly #statuses: JobStatuses;
  #state: 'behind' | 'live' | 'ending' | 'closed' = 'behind';
  #after: number;
  /** The job as it is after events that this client has not been sent yet. */
  #ahead: LookedJob | undefined;
  #drained: (() => void) | undefined;

  constructor(request: StreamRequest, response: ServerResponse, parts: ClientParts) {
    this.request = request;
    this.openedAt = parts.world.now();
    this.#response = response;
    this.#parts = parts;
    this.#statuses = new JobStatuses(parts.lifecycle);
    this.#after = request.after;
    response.on('drain', () => this.#drained?.());
  }

  /**
   * What is new, if this client is up to date; otherwise it will find it in the log. True: its job
   * may have another status now.
   */
  see(told: readonly Told[]): boolean {
    if (this.#state !== 'live') return false;
    let isChanged = false;
    for (const each of told) {
      if (!this.#isFor(each)) continue;
      if (each.isEnd && this.request.job) {
        this.#run(() => this.#finish(each));
        return false;
      }
      const isRoom = this.#send(each);
      isChanged = this.#statuses.see(each.event) || isChanged;
      if (!isRoom) {
        this.#fallBehind();
        return false;
      }
    }
    if (this.#ahead) this.consider(this.#ahead);
    return isChanged;
  }

  /** Its job, as somebody has just read it. The end is told before the event that ends the job. */
  consider(job: LookedJob): void {
    this.#ahead = undefined;
    if (this.#state !== 'live' || isFinal(jobMachine, job.row.state)) return;
    if (job.version > this.#parts.news.position) this.#ahead = job;
    else if (!this.#tell(job)) this.#fallBehind();
  }

  /** What is lost if there is no room for it. */
  say(text: string): void {
    if (this.#state !== 'closed' && !this.#response.writableNeedDrain) this.#response.write(text);
  }

  catchUp(): void {
    this.#run(() => this.#readOn());
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

  #run(work: () => Promise<void>): void {
    work().catch((error) => {
      this.#parts.onError('stream', error);
      this.sendAway();
    });
  }

  #fallBehind(): void {
    this.#state = 'behind';
    void this.#whenDrained().then(() => this.catchUp());
  }

  async #finish(end: Told): Promise<void> {
    this.#state = 'ending';
    const job = await this.#look();
    // Whoever has the number of the last event has been sent the job as it ended.
    if (job) this.#tell(job);
    this.#send(end);
    this.#end();
  }

  async #readOn(): Promise<void> {
    const { news } = this.#parts;
    const isOfJob = this.request.job !== undefined;
    while (this.#state === 'behind') {
      const { position } = news;
      // Asked before the events are read: if it has ended, then all of them are there to be read.
      const job = await this.#look();
      const hasEnded = isOfJob && (!job || isFinal(jobMachine, job.row.state));
      const page = await this.#readPage();
      const last = page.told.at(-1);
      // It came after the look, which must be repeated: the job is told before its end.
      const isHeld = isOfJob && !hasEnded && last?.isEnd === true;
      await this.#sendAll(isHeld ? page.told.slice(0, -1) : page.told, job);
      if (isHeld) continue;
      this.#after = Math.max(this.#after, page.last);
      if (page.isFull || this.#state !== 'behind') continue;
      if (job && !this.#tell(job)) await this.#whenDrained();
      if (hasEnded) this.#end();
      // No event can come between this question and the answer to it.
      else if (news.position === position && this.#state === 'behind') this.#state = 'live';
    }
  }

  async #look(): Promise<LookedJob | undefined> {
    return this.request.job && this.#parts.looks.look(this.request.job);
  }

  #readPage(): Promise<NewsPage> {
    const { caller, job } = this.request;
    const limit = job === undefined ? limits.event.pageMax : limits.event.streamPageMax;
    return this.#parts.news.read({ caller, jobId: job?.id, after: this.#after, limit });
  }

  async #sendAll(told: readonly Told[], job: LookedJob | undefined): Promise<void> {
    const lastEnd = told.findLast(({ isEnd }) => isEnd);
    for (const each of told) {
      if (this.#state === 'closed') return;
      if (each === lastEnd && job && isFinal(jobMachine, job.row.state)) this.#tell(job);
      this.#statuses.see(each.event);
      if (!this.#send(each)) await this.#whenDrained();
    }
  }

  #isFor({ event, caller }: Told): boolean {
    if (event.seq <= this.#after) return false;
    const { job } = this.request;
    return job === undefined ? caller === this.request.caller : event.jobId === job.id;
  }

  #send(told: Told): boolean {
    this.#after = told.event.seq;
    return this.#write(told.text());
  }

  #tell(job: LookedJob): boolean {
    const text = this.#statuses.tell(job);
    return text === '' || this.#write(text);
  }

  #write(text: string): boolean {
    return this.#state === 'closed' || this.#response.write(text);
  }

  async #whenDrained(): Promise<void> {
    if (this.#state === 'closed' || !this.#response.writableNeedDrain) return;
    await new Promise<void>((resolve) => (this.#drained = resolve));
    this.#drained = undefined;
  }

  #end(): void {
    if (this.#state === 'closed') return;
    this.close();
    this.#response.end();
  }
}
