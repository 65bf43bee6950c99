/** Sarvam's batch speech to text: create, upload, start, poll, download. */
import { type Call, ProviderServer, type Reply } from './provider-server.ts';

interface Job {
  readonly id: string;
  readonly files: Map<string, Buffer>;
  isStarted: boolean;
  polls: number;
}

const root = '\\/speech-to-text\\/job\\/v1';

export class SarvamServer {
  readonly jobs = new Map<string, Job>();
  pollsToGo = 2;
  /** The requested models. */
  readonly models: string[] = [];
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
    const { job_parameters: asked } = call.json() as { job_parameters: { model: string } };
    this.models.push(asked.model);
    const id = `s-${this.jobs.size + 1}`;
    this.jobs.set(id, { id, files: new Map(), isStarted: false, polls: 0 });
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
    if (!job || job.files.size === 0) return { status: 400, body: { error: { message: 'empty' } } };
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
      error_message: isGood ? '' : 'bad audio',
    };
    const state = isGood ? 'Completed' : 'Failed';
    return { body: { job_id: id, job_state: state, job_details: [detail] } };
  }

  #content(id = ''): Reply {
    const [file = ''] = this.jobs.get(id)?.files.keys() ?? [];
    const timestamps = { words: ['…'], start_time_seconds: [0], end_time_seconds: [4.12] };
    return { body: { transcript: this.transcribe(file), language_code: 'en-IN', timestamps } };
  }
}
