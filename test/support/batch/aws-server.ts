/** Amazon Transcribe's JSON protocol, with signatures that are checked. */
import { type Call, ProviderServer, type Reply } from './provider-server.ts';

interface Job {
  readonly name: string;
  readonly media: string;
  polls: number;
}

export class AwsServer {
  readonly jobs = new Map<string, Job>();
  deleted = 0;
  pollsToGo = 2;
  /** Undefined: it cannot be transcribed. */
  transcribe: (media: string) => string | undefined = (media) => `words of ${media}`;
  readonly server: ProviderServer = new ProviderServer([
    [/^POST \/$/, (call) => this.#serve(call)],
    [/^GET \/transcript\/([\w-]+)$/, (_, [, name]) => this.#transcript(name)],
  ]);

  #serve(call: Call): Reply {
    const authorization = call.headers.authorization ?? '';
    const [, scope, names] = /Credential=(\S+), (\S+), Signature/.exec(authorization) ?? [];
    const isSigned =
      /^AKIDEXAMPLE\/\d{8}\/eu-west-1\/transcribe\/aws4_request$/.test(scope ?? '') &&
      names === 'SignedHeaders=content-type;host;x-amz-date;x-amz-target' &&
      /Signature=[0-9a-f]{64}$/.test(authorization);
    if (!isSigned) {
      return { status: 403, body: { __type: 'InvalidSignatureException', message: 'unsigned' } };
    }
    const action = String(call.headers['x-amz-target']).replace('Transcribe.', '');
    const body = call.json();
    const name = String(body.TranscriptionJobName);
    if (action === 'StartTranscriptionJob') return this.#begin(name, body);
    if (action === 'GetTranscriptionJob') return this.#get(name);
    this.deleted += this.jobs.delete(name) ? 1 : 0;
    return { body: '' };
  }

  #begin(name: string, body: Record<string, unknown>): Reply {
    if (this.jobs.has(name)) {
      return { status: 400, body: { __type: 'ConflictException', Message: 'the name is taken' } };
    }
    const { MediaFileUri: media } = body.Media as { MediaFileUri: string };
    this.jobs.set(name, { name, media, polls: 0 });
    return { body: { TranscriptionJob: { TranscriptionJobName: name } } };
  }

  #get(name: string): Reply {
    const job = this.jobs.get(name);
    if (!job) {
      const message = "The requested job couldn't be found.";
      return { status: 400, body: { __type: 'BadRequestException', Message: message } };
    }
    job.polls += 1;
    const isEarly = job.polls <= this.pollsToGo;
    const isGood = this.transcribe(job.media) !== undefined;
    const status = isEarly
      ? ['QUEUED', 'IN_PROGRESS'][job.polls - 1]
      : isGood
        ? 'COMPLETED'
        : 'FAILED';
    const link = `${this.server.url}/transcript/${name}`;
    return {
      body: {
        TranscriptionJob: {
          TranscriptionJobName: name,
          TranscriptionJobStatus: status,
          ...(status === 'FAILED' && { FailureReason: 'the media cannot be read' }),
          ...(status === 'COMPLETED' && { Transcript: { TranscriptFileUri: link } }),
        },
      },
    };
  }

  #transcript(name = ''): Reply {
    const job = this.jobs.get(name);
    const transcript = this.transcribe(job?.media ?? '');
    return {
      body: {
        jobName: name,
        status: 'COMPLETED',
        results: {
          language_code: 'en-GB',
          transcripts: [{ transcript }],
          items: [{ start_time: '0.0', end_time: '4.12' }, { type: 'punctuation' }],
        },
      },
    };
  }
}
