/**
 * Results of `POST /enqueue` without a job. The result is kept for its caller, in the Redis of the
 * queue or in memory, before its message is acknowledged, so that no work is done or paid for whose
 * result cannot be fetched.
 */
import type { Completion, OrchestratorClient } from '../handoff/orchestrator/callbacks.ts';
import type { Payload, Payloads } from '../handoff/payload.ts';
import { Failure, toFailure } from '../kernel/failure/failure.ts';
import type { World } from '../kernel/world.ts';
import type { ResponseStore } from '../redis/response-store.ts';

export interface EnqueuedOptions {
  readonly answers: ResponseStore;
  readonly payloads: Payloads;
  readonly world: World;
}

/** The request: the `url` of a page, or texts to embed. */
interface Asked {
  readonly caller: string;
  readonly url?: string | undefined;
}

interface Ticket extends Asked {
  readonly status: 'queued' | 'done' | 'failed';
  readonly value?: Payload['value'] | undefined;
  readonly bytes?: string | undefined;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

export interface Fetched extends Omit<Ticket, 'bytes'> {
  readonly bytes: Uint8Array;
}

const prefix = 'enqueued:';

export class Enqueued {
  readonly #options: EnqueuedOptions;

  constructor(options: EnqueuedOptions) {
    this.#options = options;
  }

  /** The id of the result. Its worker calls back `jobIdOf` this id like a job. */
  async open(asked: Asked): Promise<string> {
    const id = this.#options.world.uuid();
    await this.#write(id, { ...asked, status: 'queued' });
    return id;
  }

  jobIdOf(id: string): string {
    return `${prefix}${id}`;
  }

  /** The orchestrator client, except for messages whose result is kept here. */
  before(client: OrchestratorClient): OrchestratorClient {
    return {
      begin: (...args) => client.begin(...args),
      beat: (...args) => client.beat(...args),
      complete: async (jobId, completion) => {
        if (!jobId.startsWith(prefix)) return client.complete(jobId, completion);
        await this.#keep(jobId.slice(prefix.length), completion);
        return { status: 'done' };
      },
    };
  }

  async read(caller: string, id: string): Promise<Fetched> {
    const ticket = await this.#find(id);
    if (ticket?.caller === caller) {
      return { ...ticket, bytes: Buffer.from(ticket.bytes ?? '', 'base64') };
    }
    throw new Failure('enqueued_unknown', `there is no result ${id}, or it has expired`);
  }

  async #keep(id: string, { value = {}, bytes, failure }: Completion): Promise<void> {
    const ticket = await this.#find(id);
    // It expired before a worker took it.
    if (!ticket) return;
    const asked = { caller: ticket.caller, url: ticket.url };
    if (failure) {
      const { code, message } = failure;
      return this.#write(id, { ...asked, status: 'failed', error: { code, message } });
    }
    try {
      const payload = await this.#options.payloads.unpack({ value, bytes });
      // The bytes of a page are not stored: its text is part of the result.
      const kept = asked.url === undefined ? Buffer.from(payload.bytes ?? []) : Buffer.alloc(0);
      const done = { value: payload.value, bytes: kept.toString('base64') };
      await this.#write(id, { ...asked, status: 'done', ...done });
    } catch (error) {
      const { code, message } = toFailure(error);
      await this.#write(id, { ...asked, status: 'failed', error: { code, message } });
    }
  }

  async #find(id: string): Promise<Ticket | undefined> {
    const kept = await this.#options.answers.read(`${prefix}${id}`);
    return kept === undefined ? undefined : (JSON.parse(kept) as Ticket);
  }

  /** The result store gives no details if it is unreachable or the result is too large. */
  async #write(id: string, ticket: Ticket): Promise<void> {
    const { answers } = this.#options;
    const text = JSON.stringify(ticket);
    await answers.write(`${prefix}${id}`, text);
    if ((await answers.read(`${prefix}${id}`)) === text) return;
    throw new Failure('queue_unavailable', 'the result cannot be stored now');
  }
}
