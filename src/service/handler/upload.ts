/**
 * Uploads are streamed to the disk; only one piece of a file is in memory. The job is created after
 * the last file is complete, so a partial upload leaves no trace.
 */
import type { MultipartFile, MultipartValue } from '@fastify/multipart';
import { checkCorpusName, checkLane, checkPriced } from '../../engine/command/admission.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { withMetadata, withUploadedSidecars } from '../../source/sidecar.ts';
import type { NewSource } from '../../store/job/submit.ts';
import type { Ask, Handlers, Service } from '../service.ts';
import { accepted, checkCapacity, idempotencyOf } from './jobs.ts';

export function uploadRoutes(service: Service) {
  const underWay = new Map<string, number>();
  return {
    'POST /jobs/upload': async (ask) => {
      const { callerId } = ask.caller;
      await checkCapacity(service, ask);
      const count = underWay.get(callerId) ?? 0;
      if (count >= limits.request.uploadsPerCallerMax) {
        throw new Failure('too_many_uploads', `you have ${count} running uploads`);
      }
      underWay.set(callerId, count + 1);
      try {
        return await submitFiles(service, ask);
      } finally {
        const left = (underWay.get(callerId) ?? 1) - 1;
        if (left > 0) underWay.set(callerId, left);
        else underWay.delete(callerId);
      }
    },
  } satisfies Partial<Handlers>;
}

async function submitFiles(service: Service, ask: Ask<'POST /jobs/upload'>) {
  const { fields, sources: files } = await receive(service, ask);
  const sources = withMetadata(await withSidecars(service, files), metadataOf(fields));
  const given = fields.get('corpus_name') ?? limits.corpus.nameDefault;
  if (sources.length === 0) throw new Failure('sources_empty', 'the request contains no file');
  if (fields.has('budget_cents')) checkPriced(service);
  const { name: corpus } = await service.corpora.target(ask.caller.callerId, given);
  const { jobKey, isReplayed } = await service.commands.submit({
    caller: ask.caller.callerId,
    corpus,
    submitter: { type: ask.caller.callerType, tier: ask.caller.tier },
    sources,
    priority: numberOf(fields, 'priority'),
    force: fields.get('force') === 'true',
    lane: checkLane(fields.get('lane')),
    budgetCents: numberOf(fields, 'budget_cents'),
    maxWallSeconds: numberOf(fields, 'max_wall_seconds'),
    idempotency: await idempotencyOf(ask.headers['idempotency-key'], {
      fields: [...fields],
      sources,
    }),
  });
  ask.log.info({ job_id: jobKey, files: sources.length, replayed: isReplayed }, 'files submitted');
  return accepted(service, ask, { jobKey, isReplayed, corpus, sources });
}

async function receive(service: Service, { request }: Ask<'POST /jobs/upload'>) {
  const fields = new Map<string, string>();
  const sources = new Map<string, NewSource>();
  let bytes = 0;
  for await (const part of request.parts()) {
    if (part.type === 'field') {
      fields.set(part.fieldname, readField(part));
      continue;
    }
    const kept = await keep(service, part, limits.request.uploadBytesMax - bytes);
    bytes += kept.bytes;
    sources.set(kept.source.source, kept.source);
  }
  return { fields, sources: [...sources.values()] };
}

/** A file `NAME.meta.json` beside the file NAME has its metadata. */
function withSidecars({ blobs }: Service, files: readonly NewSource[]): Promise<NewSource[]> {
  return withUploadedSidecars(files, ({ input }) => blobs.get(input?.body ?? ''));
}

function metadataOf(fields: ReadonlyMap<string, string>): unknown {
  const text = fields.get('metadata');
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure('bad_request', 'the field metadata must be JSON, such as {"team": "ops"}');
  }
}

const known = [
  ...['corpus_name', 'priority', 'force', 'lane', 'budget_cents', 'max_wall_seconds'],
  'metadata',
];

function readField({ fieldname, value }: MultipartValue): string {
  if (!known.includes(fieldname) || typeof value !== 'string') {
    const message = `${JSON.stringify(fieldname)} is not a known field`;
    throw new Failure('bad_request', message);
  }
  if (fieldname === 'corpus_name') checkCorpusName(value);
  if (fieldname === 'lane') checkLane(value);
  if (numbers.includes(fieldname)) checkNumber(fieldname, value);
  if (fieldname === 'force' && value !== 'true' && value !== 'false') {
    throw new Failure('bad_request', `force must be true or false, not ${JSON.stringify(value)}`);
  }
  return value;
}

const numbers: readonly string[] = ['priority', 'budget_cents', 'max_wall_seconds'];

/** An empty field would count as 0, and `0x10` as 16. */
function checkNumber(name: string, text: string): void {
  if (/^[-+.\de]+$/i.test(text) && Number.isFinite(Number(text))) return;
  throw new Failure('bad_request', `${name} must be a number, not ${JSON.stringify(text)}`);
}

function numberOf(fields: ReadonlyMap<string, string>, name: string): number | undefined {
  const text = fields.get(name);
  return text === undefined ? undefined : Number(text);
}

async function keep(
  { blobs }: Service,
  part: MultipartFile,
  bytesLeft: number,
): Promise<{ source: NewSource; bytes: number }> {
  const name = nameOf(part.filename);
  const { key, bytes } = await blobs.putStream(bounded(part, name, bytesLeft));
  const input = { kind: 'blob', title: name, body: key } as const;
  return { source: { kind: 'upload', source: `upload:${name}`, input }, bytes };
}

async function* bounded(part: MultipartFile, name: string, bytesLeft: number) {
  let left = bytesLeft;
  for await (const piece of part.file as AsyncIterable<Buffer>) {
    left -= piece.length;
    if (left < 0) {
      const message = `the files are larger than ${limits.request.uploadBytesMax} bytes together`;
      throw new Failure('payload_too_large', message);
    }
    yield piece;
  }
  if (part.file.truncated) {
    const bound = limits.document.sourceBytesMax;
    throw new Failure('source_too_large', `${name} is larger than ${bound} bytes`);
  }
}

const nameCharactersMax = 500;

/** A name may contain folders, but cannot leave its folder, and control characters are removed. */
function nameOf(filename: string | undefined): string {
  const parts = (filename ?? '')
    .split(/[\\/]/)
    .map((part) => part.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '').trim());
  const name = parts.filter((part) => !/^\.*$/.test(part)).join('/');
  if (name === '') throw new Failure('bad_request', 'every file needs a name');
  // The end of a long name has the file extension.
  return name.length <= nameCharactersMax ? name : name.slice(-nameCharactersMax);
}
