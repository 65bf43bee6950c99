/**
 * Sarvam's batch speech to text: create, upload, start, poll, download. Fields, models, languages
 * and states are those of its package for JavaScript (`docs/verified.md`).
 */
import { type Call, ProviderServer, type Reply, unknownFields } from './provider-server.ts';

interface Job {
  readonly id: string;
  readonly files: Map<string, Buffer>;
  readonly asked: Parameters;
  isStarted: boolean;
  polls: number;
}

const known = {
  parameters: [
    ...['language_code', 'model', 'mode', 'with_timestamps', 'with_diarization'],
    ...['num_speakers', 'input_audio_codec', 'keyterms'],
  ],
  models: ['saaras:v3', 'saaras:v4'],
  languages: [
    ...['unknown', 'hi-IN', 'bn-IN', 'kn-IN', 'ml-IN', 'mr-IN', 'od-IN', 'pa-IN', 'ta-IN'],
    ...['te-IN', 'en-IN', 'gu-IN', 'as-IN', 'ur-IN', 'ne-IN', 'kok-IN', 'ks-IN', 'sd-IN'],
    ...['sa-IN', 'sat-IN', 'mni-IN', 'brx-IN', 'mai-IN', 'doi-IN'],
  ],
};

interface Parameters {
  readonly model: string;
  readonly language_code: string;
  readonly with_timestamps?: boolean;
}

const root = '\\/speech-to-text\\/job\\/v1';

export class SarvamServer {
  readonly jobs = new Map<string, Job>();
  pollsToGo = 2;
  /** The requested models. */
  readonly models: string[] = [];
  readonly languages: string[] = [];
  /** A job may complete although its file did not. */
  failedState: 'Completed' | 'Failed' = 'Failed';
  transcribe: (file: string) => string | undefined = (file) => `words of ${file}`;
  readonly server: ProviderServer = new ProviderServer([
    [new RegExp(`^POST ${root}$`), (call) => this.#make(call)],
    [new RegExp(`^POST ${root}\\/upload-files$`), (call) => this.#links(call, 'upload')],
    [new RegExp(`^POST ${root}\\/download-files$`), (call) => this.#links(call, 'download')],
    [new RegExp(`^POST ${root}\\/([\\w-]+)\\/start$`), (_, [, id]) => this.#begin(id)],
    [new RegExp(`^GET ${root}\\/([\\w-]+)\\/status$`), (_, [, id]) => this.#status(id)],
    [/^PUT \/put\/([\w-]+)\/(.+)$/, (call, [, id, file]) => this.#put(call, id, file)],
    [/^GET \/get\/([\w-]+)\/(.+)$/, (_, [, id]) => this.#content(id)],
  ]);

  #make(call: Call): Reply {
    const { job_parameters: asked } = call.json() as { job_parameters: Parameters };
    const problem = problemOf(asked);
    if (problem) return refused(problem);
    this.models.push(asked.model);
    this.languages.push(asked.language_code);
    const id = `s-${this.jobs.size + 1}`;
    this.jobs.set(id, { id, asked, files: new Map(), isStarted: false, polls: 0 });
    return { status: 202, body: { job_id: id, job_state: 'Accepted' } };
  }

  #links(call: Call, kind: 'upload' | 'download'): Reply {
    const { job_id: id, files } = call.json() as { job_id: string; files: string[] };
    const path = kind === 'upload' ? 'put' : 'get';
    const links = files.map((file) => [
      file,
      { file_url: `${this.server.url}/${path}/${id}/${file}` },
    ]);
    return { body: { job_id: id, [`${kind}_urls`]: Object.fromEntries(links) } };
  }

  #put(call: Call, id = '', file = ''): Reply {
    if (call.headers['x-ms-blob-type'] !== 'BlockBlob') return { status: 400 };
    this.jobs.get(id)?.files.set(file, call.body);
    return { status: 201 };
  }

  #begin(id = ''): Reply {
    const job = this.jobs.get(id);
    if (!job || job.files.size === 0) return refused('no file was uploaded');
    job.isStarted = true;
    return { body: { job_id: id, job_state: 'Pending' } };
  }

  #status(id = ''): Reply {
    const job = this.jobs.get(id);
    if (!job) return { status: 404, body: { error: { message: 'no such job' } } };
    if (!job.isStarted) return { body: { job_id: id, job_state: 'Accepted', job_details: [] } };
    job.polls += 1;
    if (job.polls <= this.pollsToGo) {
      return { body: { job_id: id, job_state: ['Pending', 'Running'][job.polls - 1] } };
    }
    const [file = ''] = job.files.keys();
    const isGood = this.transcribe(file) !== undefined;
    const outputs = isGood ? [{ file_name: '0.json' }] : [];
    const detail = {
      inputs: [{ file_name: file }],
      outputs,
      state: isGood ? 'Success' : 'API Error',
      error_message: isGood ? '' : 'bad audio',
    };
    const state = isGood ? 'Completed' : this.failedState;
    return { body: { job_id: id, job_state: state, job_details: [detail] } };
  }

  #content(id = ''): Reply {
    const [file = ''] = this.jobs.get(id)?.files.keys() ?? [];
    const timestamps = { words: ['…'], start_time_seconds: [0], end_time_seconds: [4.12] };
    const isTimed = this.jobs.get(id)?.asked.with_timestamps === true;
    const content = { transcript: this.transcribe(file), language_code: 'en-IN' };
    return { body: { ...content, ...(isTimed && { timestamps }) } };
  }
}

function problemOf(asked: Parameters): string | undefined {
  const [strange] = unknownFields(asked, known.parameters);
  if (strange !== undefined) return `job_parameters has no field ${strange}`;
  if (!known.models.includes(asked.model)) return `model: ${asked.model} is not one of its models`;
  return known.languages.includes(asked.language_code)
    ? undefined
    : `language_code: ${asked.language_code} is not one of its languages`;
}

function refused(message: string): Reply {
  return { status: 400, body: { error: { message, code: 'invalid_request_error' } } };
}
