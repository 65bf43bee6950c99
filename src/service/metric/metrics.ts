/** Metrics for Prometheus: counted from the event log, or queried from the store on a scrape. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type Event, jobEnds } from '../../observe/event.ts';
import type { StallCause } from '../../observe/loop-watch.ts';
import type { Queue } from '../../queue/queue.ts';
import type { Database } from '../../store/driver/database.ts';
import { countWithoutCause } from '../../store/item/items.ts';
import { countQueues } from '../../store/item/places.ts';
import { countInFlight } from '../../store/job/views.ts';
import type { PublishedEvent } from '../stream/news.ts';
import type { HotResult } from '../view/hot-jobs.ts';
import { Activity } from './activity.ts';
import { addBatchGauges } from './batch.ts';
import { addDependencyGauge, addWebhookGauge } from './dependencies.ts';

const requestSeconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];
const jobSeconds = [0.1, 0.5, 1, 5, 15, 60, 300, 1800, 7200, 86_400];
/** Counting items is expensive, so it is throttled to this interval. */
const causeAgeMsMax = 60_000;

export interface MetricsOptions {
  /** Absent in a service without one. */
  readonly database?: Database | undefined;
  readonly now: () => number;
  readonly streams: () => number;
  /**
   * The worker of this process, whose steps are measured here. Absent if other services run the
   * steps: each measures its own, so that the sum over all processes counts nothing twice.
   */
  readonly worker?: string | undefined;
  /** The queues to other processes. */
  readonly queues?: readonly Queue[] | undefined;
}

export class Metrics {
  readonly #registry = new Registry();
  readonly #options: MetricsOptions;
  readonly #jobDuration = this.#histogram(
    'job_duration_seconds',
    'Duration of a job, from its first step or its retry to its end, without pauses',
    { buckets: jobSeconds },
  );
  readonly #jobFailures = this.#counter('job_failures_total', 'Failed jobs', ['code']);
  readonly #itemFailures = this.#counter('pawl_item_failures_total', 'Failed documents', ['code']);
  readonly #jobsFailed = this.#counter('jobs_failed_total', 'Failed jobs', ['stage']);
  readonly #retries = this.#counter(
    'retry_attempts_total',
    'Retries that use one of the tries of a step; requested waits do not count',
  );
  readonly #events = this.#counter('pawl_events_total', 'Events by kind', ['kind']);
  /** Updates the state of Membership and Redis before a scrape. */
  readonly seeDependencies = addDependencyGauge([this.#registry]);
  readonly #cost = this.#counter('pawl_cost_cents_total', 'Cost of models, in cents', ['model']);
  readonly #embedding = this.#histogram(
    'embedding_request_duration_seconds',
    'Embedding: queries (read) and documents (write)',
    { buckets: requestSeconds, labels: ['operation'] },
  );
  readonly #chunking = this.#histogram('chunking_duration_seconds', 'Chunking of a document', {
    buckets: requestSeconds,
  });
  readonly #requests = this.#histogram('pawl_http_request_duration_seconds', 'Requests', {
    buckets: requestSeconds,
    labels: ['method', 'route', 'status'],
  });
  readonly #stalls = this.#counter(
    'pawl_event_loop_stalls_total',
    'Times that the event loop was blocked for more than 250 ms, by work or by a wait',
    ['cause'],
  );
  readonly #hotReads = this.#counter('pawl_hot_view_reads_total', 'Job lookups in Redis', [
    'result',
  ]);
  readonly activity: Activity;
  #withoutCause = { count: 0, at: Number.NEGATIVE_INFINITY };

  constructor(options: MetricsOptions) {
    this.#options = options;
    this.activity = new Activity(options.now);
    const registers = [this.#registry];
    const { database, queues = [] } = options;
    addDepths(registers, { database, queues });
    if (!database) return;
    this.#addGauges(registers, database);
    addBatchGauges(registers, { ...options, database });
  }

  #counter<Label extends string = never>(name: string, help: string, labelNames: Label[] = []) {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  #histogram<Label extends string = never>(
    name: string,
    help: string,
    { buckets, labels = [] }: { buckets: number[]; labels?: Label[] },
  ) {
    return new Histogram({ name, help, buckets, labelNames: labels, registers: [this.#registry] });
  }

  see(published: readonly PublishedEvent[]): void {
    for (const { event } of published) {
      this.#events.inc({ kind: event.kind });
      this.#count(event);
      if (jobEnds.has(event.kind)) this.#seeEnd(event);
    }
  }

  /** A try of a worker. Other work for callers does not count as embedding. */
  seeWork(kind: string, seconds: number): void {
    if (kind === 'embed') this.#embedding.observe({ operation: 'write' }, seconds);
  }

  /** A text that this process has chunked for others. */
  seeCut(seconds: number): void {
    this.#chunking.observe(seconds);
  }

  seeHot(result: HotResult): void {
    this.#hotReads.inc({ result });
  }

  seeStall(cause: StallCause): void {
    this.#stalls.inc({ cause });
  }

  seeSearch(seconds: number): void {
    this.#embedding.observe({ operation: 'read' }, seconds);
    this.activity.time('searches', seconds * 1000);
  }

  seeRequest(labels: { method: string; route: string; status: number }, seconds: number): void {
    this.#requests.observe({ ...labels, status: String(labels.status) }, seconds);
  }

  /** The text that Prometheus scrapes. */
  read(): Promise<string> {
    return this.#registry.metrics();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  #count({ kind, step, worker, detail = {} }: Event): void {
    if (kind === 'generation_flipped') this.activity.count('documents');
    if (kind === 'item_failed') this.activity.count('failures');
    if (kind === 'item_failed') this.#itemFailures.inc({ code: String(detail.code) });
    if (kind === 'retry_scheduled' && detail.spends_retry === true) this.#retries.inc();
    if (kind === 'work_paid') {
      this.#cost.inc({ model: String(detail.model) }, Number(detail.cost_cents ?? 0));
    }
    const isOwn = worker !== undefined && worker === this.#options.worker;
    if (kind !== 'step_completed' || !isOwn) return;
    const seconds = Number(detail.duration_ms ?? 0) / 1000;
    if (step === 'embedded') this.#embedding.observe({ operation: 'write' }, seconds);
    if (step === 'chunked') this.#chunking.observe(seconds);
  }

  #seeEnd({ kind, detail = {} }: Event): void {
    const { duration_ms = 0, error_code = 'E_INTERNAL', stage = 'unknown' } = detail;
    this.#jobDuration.observe(Number(duration_ms) / 1000);
    if (kind !== 'job_failed') return;
    this.#jobFailures.inc({ code: String(error_code) });
    this.#jobsFailed.inc({ stage: String(stage) });
  }

  #addGauges(registers: Registry[], database: Database): void {
    const { streams, now } = this.#options;
    const countCauses = async (): Promise<number> => {
      if (now() - this.#withoutCause.at > causeAgeMsMax) {
        this.#withoutCause = { count: await countWithoutCause(database, 'open'), at: now() };
      }
      return this.#withoutCause.count;
    };
    new Gauge({
      name: 'jobs_inflight',
      help: 'Open jobs',
      labelNames: ['type'],
      registers,
      async collect() {
        this.reset();
        for (const type of ['ingest', 'crawl']) this.set({ type }, 0);
        for (const { type, count } of await countInFlight(database)) this.set({ type }, count);
      },
    });
    new Gauge({
      name: 'pawl_items_without_forward_cause',
      help: 'Stuck documents: open items without a scheduled next event; must be 0',
      registers,
      async collect() {
        this.set(await countCauses());
      },
    });
    new Gauge({
      name: 'pawl_streams_open',
      help: 'Open event streams',
      registers,
      collect() {
        this.set(streams());
      },
    });
    addWebhookGauge(registers, { database, now });
  }
}

interface DepthOptions {
  readonly database: Database | undefined;
  readonly queues: readonly Queue[];
}

function addDepths(registers: Registry[], { database, queues }: DepthOptions): void {
  new Gauge({
    name: 'queue_depth',
    help:
      'Queue lengths: items waiting for a worker, for a time, or for a limit; messages ' +
      'waiting for a process',
    labelNames: ['queue'],
    registers,
    async collect() {
      this.reset();
      const counts = database ? await countQueues(database) : [];
      for (const { queue, count } of counts) this.set({ queue }, count);
      for (const [queue, count] of await depthsOf(queues)) this.set({ queue }, count);
    },
  });
}

/** An unreachable queue is omitted, because its last value would look current. */
async function depthsOf(queues: readonly Queue[]): Promise<[name: string, waiting: number][]> {
  const depths = await Promise.allSettled(queues.map((queue) => queue.depth()));
  return queues.flatMap(({ name }, at): [string, number][] => {
    const depth = depths[at];
    return depth?.status === 'fulfilled' ? [[name, depth.value.waiting]] : [];
  });
}
