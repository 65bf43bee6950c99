/** `pawl ingest`: reads documents into a corpus. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import type { CrawlInput, IngestOptions } from '../../index.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { pathOfSource } from '../../pipeline/fetch/file-path.ts';
import { expandSources, type SourceInput } from '../../source/sources.ts';
import type { NewSource } from '../../store/job/submit.ts';
import {
  type Call,
  type Command,
  centsOf,
  exits,
  numberOf,
  serviceOf,
  textOf,
  usageError,
  withClient,
} from '../command.ts';
import { metadataOf } from '../metadata-flag.ts';
import type { JobClient } from '../pawl-client.ts';
import { follow, tellStopped } from '../view/follow.ts';
import { count, printable } from '../view/wording.ts';
import { estimate } from './estimate.ts';
import { pruneFolder } from './sync/sync.ts';

export const ingest: Command = {
  name: 'ingest',
  summary: 'read URLs, files, folders, globs or stdin into a corpus',
  usage: ['ingest SOURCE… [--corpus NAME]'],
  options: {
    corpus: {
      type: 'string',
      short: 'c',
      value: 'NAME',
      meaning: 'the corpus (PAWL_CORPUS, or default); created if it does not exist',
    },
    force: {
      type: 'boolean',
      short: 'f',
      meaning: 'index documents again even if they have not changed',
    },
    priority: { type: 'string', value: 'N', meaning: '0 to 9; higher runs first' },
    crawl: { type: 'boolean', meaning: 'follow links within the site of the address' },
    depth: { type: 'string', value: 'N', meaning: 'maximum number of links from the start page' },
    limit: {
      type: 'string',
      short: 'n',
      value: 'N',
      meaning: 'maximum number of pages of a crawl',
    },
    include: {
      type: 'string',
      value: 'GLOB',
      meaning: 'only crawl these addresses; separate globs with commas',
    },
    exclude: { type: 'string', value: 'GLOB', meaning: 'do not crawl these addresses' },
    'budget-cents': { type: 'string', value: 'N', meaning: 'pause the job before it costs more' },
    'max-wall-seconds': {
      type: 'string',
      value: 'N',
      meaning: 'fail open documents after this time',
    },
    'follow-links': {
      type: 'boolean',
      meaning: 'read files behind symbolic links that leave the folder',
    },
    prune: {
      type: 'boolean',
      meaning: 'of a folder: also rename and remove documents as its files were',
    },
    estimate: { type: 'boolean', meaning: 'print the estimated cost, and stop' },
    meta: {
      type: 'string',
      value: 'KEY=VALUE',
      multiple: true,
      meaning: 'metadata of every document; repeat it for more keys',
    },
    lane: {
      type: 'string',
      value: 'LANE',
      choices: ['now', 'cheap'],
      meaning: 'now, or cheap: provider batches, within a day',
    },
  },
  examples: [
    'pawl ingest ./docs --corpus handbook',
    'pawl ingest https://example.com/ --crawl --limit 200 --corpus site',
    "pawl ingest 'notes/**/*.md' --corpus notes",
    'pawl ingest ./runbooks --corpus handbook --meta team=ops --meta year=2025',
    'pandoc report.docx -t markdown | pawl ingest - --corpus reports',
  ],
  run: async (call) => {
    const { positionals, flags } = call;
    const corpus = textOf(flags, 'corpus') ?? call.config.corpus;
    if (positionals.length === 0) {
      const how = 'Name URLs, files, folders or globs, or use - for stdin.';
      throw usageError('pawl ingest needs a source', how);
    }
    if (flags.prune === true) return pruneFolder(call, corpus);
    const { priorityMin, priorityMax } = limits.fairness;
    const priority = numberOf(flags, 'priority', { min: priorityMin, max: priorityMax });
    const skipped = new Skipped(call);
    const expanded = await expandSources(await readInputs(positionals), {
      followLinks: flags['follow-links'] === true,
      onSkipped: (source, reason) => skipped.tell(source, reason),
    });
    const sources = serviceOf(call) ? await skipped.leaveUnreadable(expanded) : expanded;
    const crawl = flags.crawl === true ? crawlOf(flags) : undefined;
    if (flags.estimate === true) return estimate(call, sources, { corpus, crawl });
    const budgetCents = centsOf(flags, 'budget-cents');
    const seconds = { min: 1, max: limits.job.wallClockMs / 1000 };
    const maxWallSeconds = numberOf(flags, 'max-wall-seconds', seconds);
    const lane = textOf(flags, 'lane') as IngestOptions['lane'];
    const force = flags.force === true;
    const metadata = metadataOf(flags.meta);
    const chosen = { priority, crawl, budgetCents, maxWallSeconds, force, lane, metadata };
    const exit = await ingestSources(call, sources, { corpus, ...chosen });
    return skipped.hasFailed ? Math.max(exit, exits.someFailed) : exit;
  },
};

/** Prints each skipped source with its reason. */
class Skipped {
  readonly #call: Call;
  hasFailed = false;

  constructor(call: Call) {
    this.#call = call;
  }

  tell(source: string, reason: string): void {
    this.#call.terminal.tell(`skipped ${printable(source)}: ${reason}`);
  }

  /** A service receives bytes, so an unreadable file cannot become an item of its job. */
  async leaveUnreadable(sources: readonly NewSource[]): Promise<NewSource[]> {
    const readable: NewSource[] = [];
    for (const each of sources) {
      const refusal = each.kind === 'file' ? await readRefusal(each.source) : undefined;
      if (refusal === undefined) readable.push(each);
      else {
        this.hasFailed = true;
        this.tell(each.source, refusal);
      }
    }
    if (readable.length === 0) throw new Failure('sources_empty', 'none of the files can be read');
    return readable;
  }
}

async function readRefusal(source: string): Promise<string | undefined> {
  const path = pathOfSource(source);
  try {
    await access(path, constants.R_OK);
    return (await stat(path)).isFile() ? undefined : 'not a file';
  } catch (error) {
    return `not readable (${(error as NodeJS.ErrnoException).code})`;
  }
}

function crawlOf(flags: Call['flags']): CrawlInput {
  const { crawlDepthMax, crawlPagesMax } = limits.job;
  const globs = (name: string) => textOf(flags, name)?.split(',');
  return {
    depth: numberOf(flags, 'depth', { min: 0, max: crawlDepthMax }),
    limit: numberOf(flags, 'limit', { min: 1, max: crawlPagesMax }),
    include: globs('include'),
    exclude: globs('exclude'),
  };
}

/** Submits the sources, or finds the unfinished job with the same sources, and follows it. */
export async function ingestSources(
  call: Call,
  sources: readonly NewSource[],
  options: IngestOptions,
): Promise<number> {
  const exit = await withClient(call, async (pawl) => {
    const job = await pawl.submit(sources, { ...options, resume: true });
    if (!call.isJson) tellBegun(call, job, sources.length);
    const after = job.isResumed ? await pawl.newestEvent() : 0;
    await pawl.work();
    return follow(call, job, { after });
  });
  if (exit === exits.interrupted) tellStopped(call);
  return exit;
}

async function readInputs(positionals: readonly string[]): Promise<SourceInput[]> {
  const inputs: SourceInput[] = [];
  for (const input of positionals) {
    inputs.push(input === '-' ? { text: await readStdin() } : input);
  }
  return inputs;
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limits.job.inlineTextBytesMax) {
      const bound = limits.job.inlineTextBytesMax;
      throw new Failure('payload_too_large', `stdin has more than ${bound} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tellBegun({ terminal }: Call, job: JobClient, total: number): void {
  const id = terminal.paint('dim', `job ${job.id}`);
  const what = `${count(total, 'document')} into ${job.corpus}`;
  terminal.tell(`${job.isResumed ? 'resuming' : 'ingesting'} ${what}  ${id}`);
}
