/**
 * Event streams to many clients. A client that keeps up gets each event as it is published. A slow
 * client gets nothing more until it has read what was sent; then it reads the log after its last
 * event until it has caught up. So the memory per client is bounded by the buffer of its
 * connection, and no event is lost or sent twice. A job stream also carries the job itself, as a
 * message without name or number, at each change of status.
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
import { type JobName, type JobSnapshot, JobStatusReader } from './job-status-reader.ts';
import { JobStatuses } from './job-statuses.ts';
import type { News, NewsPage, PublishedEvent } from './news.ts';

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
  /** If absent, everything that the caller owns. */
  readonly job?: JobName | undefined;
  readonly after: number;
}

export class Streams {
  readonly #options: StreamsOptions;
  readonly #clients = new Set<Client>();
  readonly #statusReader: JobStatusReader;
  #cancelTick: (() => void) | undefined;

  constructor(options: StreamsOptions) {
    this.#options = options;
    this.#statusReader = new JobStatusReader({
      ...options,
      onRead: (jobId, job) => {
        for (const client of this.#clients) {
          if (client.request.job?.id === jobId) client.consider(job);
        }
      },
    });
    options.news.listen((published) => this.#handOut(published));
    options.progress.listen((jobId, itemId, working) => this.#progress(jobId, itemId, working));
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Called before the response starts, because a refusal needs its own status. */
  checkCapacity(caller: string): void {
    let own = 0;
    for (const client of this.#clients) if (client.request.caller === caller) own += 1;
    const { streamsMax, streamsPerCallerMax } = limits.event;
    if (own < streamsPerCallerMax && this.#clients.size < streamsMax) return;
    throw new Failure('too_many_streams', `you have ${own} open streams`);
  }

  open(request: StreamRequest, response: ServerResponse): void {
    const client = new Client(request, response, {
      ...this.#options,
      statusReader: this.#statusReader,
    });
    this.#clients.add(client);
    response.once('close', () => {
      client.close();
      this.#clients.delete(client);
      if (this.#clients.size === 0) this.#stopTicking();
    });
    if (this.#cancelTick === undefined) this.#tick();
    client.catchUp();
  }

  /** Ends all streams, and tells the clients when to reconnect. */
  close(): void {
    this.#stopTicking();
    this.#statusReader.stop();
    for (const client of this.#clients) client.sendAway();
  }

  #handOut(published: readonly PublishedEvent[]): void {
    const publication = new Publication(published);
    for (const client of this.#clients) {
      const { job } = client.request;
      if (client.see(publication) && job) this.#statusReader.ask(job);
    }
    for (const { event } of published) if (ownerKinds.has(event.kind)) this.#sendAwayFrom(event);
  }

  /** A reconnecting client is authenticated again, and so is its access to the job. */
  #sendAwayFrom({ jobId, detail }: PublishedEvent['event']): void {
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

  /** Sent but not stored: it has no number, and a reconnecting client reads the current state. */
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

/** The events of a publication that are for one request. */
interface Portion {
  readonly events: readonly PublishedEvent[];
  /** Their messages. */
  readonly bytes: Buffer;
  /** The event that ends the job of the request; it is not among the others. */
  readonly end: PublishedEvent | undefined;
}

/** New events. Clients with the same request get the same bytes, which are made once. */
class Publication {
  readonly #published: readonly PublishedEvent[];
  readonly #portions = new Map<number | string, Portion>();

  constructor(published: readonly PublishedEvent[]) {
    this.#published = published;
  }

  for(request: StreamRequest, after: number): Portion {
    const [first] = this.#published;
    // Rare: some of them were read from the log.
    if (first && first.event.seq <= after) return this.#select(request, after);
    const key = request.job?.id ?? request.caller;
    let portion = this.#portions.get(key);
    if (!portion) {
      portion = this.#select(request, after);
      this.#portions.set(key, portion);
    }
    return portion;
  }

  #select({ caller, job }: StreamRequest, after: number): Portion {
    const own = this.#published.filter(
      ({ event, caller: owner }) =>
        event.seq > after && (job === undefined ? owner === caller : event.jobId === job.id),
    );
    const endAt = job === undefined ? -1 : own.findIndex(({ isEnd }) => isEnd);
    const events = endAt < 0 ? own : own.slice(0, endAt);
    const bytes = Buffer.from(events.map((each) => each.text()).join(''));
    return { events, bytes, end: own[endAt] };
  }
}

/** After these events, some streams may no longer belong to the caller who opened them. */
const ownerKinds: ReadonlySet<string> = new Set(['job_moved', 'caller_merged']);

interface ClientParts extends StreamsOptions {
  readonly statusReader: JobStatusReader;
}

class Client {
  readonly request: StreamRequest;
  readonly openedAt: number;
  readonly #response: ServerResponse;
  readonly #parts: ClientParts;
  readonly #statuses: JobStatuses;
  #state: 'behind' | 'live' | 'ending' | 'closed' = 'behind';
  #after: number;
  /** The job after events that this client has not received yet. */
  #ahead: JobSnapshot | undefined;
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
   * Sends new events if this client is up to date; otherwise it will read them from the log.
   * Returns true if its job may have another status now.
   */
  see(publication: Publication): boolean {
    if (this.#state !== 'live') return false;
    const { events, bytes, end } = publication.for(this.request, this.#after);
    let isChanged = false;
    for (const { event } of events) isChanged = this.#statuses.see(event) || isChanged;
    this.#after = events.at(-1)?.event.seq ?? this.#after;
    if (events.length > 0 && !this.#write(bytes)) {
      this.#fallBehind();
      return false;
    }
    if (end) {
      this.#run(() => this.#finish(end));
      return false;
    }
    if (this.#ahead) this.consider(this.#ahead);
    return isChanged;
  }

  /** Sends its job, as just read. The final status is sent before the event that ends the job. */
  consider(job: JobSnapshot): void {
    this.#ahead = undefined;
    if (this.#state !== 'live' || isFinal(jobMachine, job.row.state)) return;
    if (job.version > this.#parts.news.position) this.#ahead = job;
    else if (!this.#tell(job)) this.#fallBehind();
  }

  /** Dropped if the buffer is full. */
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

  async #finish(end: PublishedEvent): Promise<void> {
    this.#state = 'ending';
    const job = await this.#readJob();
    // A client that has the number of the last event has received the final job.
    if (job) this.#tell(job);
    this.#send(end);
    this.#end();
  }

  async #readOn(): Promise<void> {
    const { news } = this.#parts;
    const isOfJob = this.request.job !== undefined;
    while (this.#state === 'behind') {
      const { position } = news;
      // Read before the events: if the job has ended, all its events are in the log.
      const job = await this.#readJob();
      const hasEnded = isOfJob && (!job || isFinal(jobMachine, job.row.state));
      const page = await this.#readPage();
      const last = page.published.at(-1);
      // The event came after the read, which must be repeated: the job is sent before its end.
      const isWithheld = isOfJob && !hasEnded && last?.isEnd === true;
      await this.#sendAll(isWithheld ? page.published.slice(0, -1) : page.published, job);
      if (isWithheld) continue;
      this.#after = Math.max(this.#after, page.last);
      if (page.isFull || this.#state !== 'behind') continue;
      if (job && !this.#tell(job)) await this.#whenDrained();
      if (hasEnded) this.#end();
      // No event can arrive between this check and its use.
      else if (news.position === position && this.#state === 'behind') this.#state = 'live';
    }
  }

  async #readJob(): Promise<JobSnapshot | undefined> {
    return this.request.job && this.#parts.statusReader.read(this.request.job);
  }

  #readPage(): Promise<NewsPage> {
    const { caller, job } = this.request;
    const limit = job === undefined ? limits.event.pageMax : limits.event.streamPageMax;
    return this.#parts.news.read({ caller, jobId: job?.id, after: this.#after, limit });
  }

  async #sendAll(
    published: readonly PublishedEvent[],
    job: JobSnapshot | undefined,
  ): Promise<void> {
    const lastEnd = published.findLast(({ isEnd }) => isEnd);
    for (const each of published) {
      if (this.#state === 'closed') return;
      if (each === lastEnd && job && isFinal(jobMachine, job.row.state)) this.#tell(job);
      this.#statuses.see(each.event);
      if (!this.#send(each)) await this.#whenDrained();
    }
  }

  #send(published: PublishedEvent): boolean {
    this.#after = published.event.seq;
    return this.#write(published.text());
  }

  #tell(job: JobSnapshot): boolean {
    const text = this.#statuses.tell(job);
    return text === '' || this.#write(text);
  }

  #write(text: string | Buffer): boolean {
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
