/** AWS Signature Version 4 for one request, following its documentation. */
import { createHash, createHmac } from 'node:crypto';
import type { OutgoingRequest } from './endpoint.ts';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  readonly region: string;
}

const algorithm = 'AWS4-HMAC-SHA256';

/** A body that is not in memory is represented by its hash. */
export type SignedRequest = OutgoingRequest & { readonly bodyHash?: string };

/** The authentication headers of the request, at this time. */
export function signRequest(
  request: SignedRequest,
  { credentials, service, now }: { credentials: AwsCredentials; service: string; now: number },
): Record<string, string> {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const date = time.slice(0, 8);
  const scope = `${date}/${credentials.region}/${service}/aws4_request`;
  const added = {
    'x-amz-date': time,
    ...(credentials.sessionToken !== undefined && {
      'x-amz-security-token': credentials.sessionToken,
    }),
  };
  const headers = signedHeaders({ ...request.headers, ...added, host: request.url.host });
  const names = headers.map(([name]) => name).join(';');
  const canonical = [
    request.method,
    request.url.pathname || '/',
    canonicalQuery(request.url),
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    request.bodyHash ?? sha256(request.body ?? ''),
  ].join('\n');
  const toSign = [algorithm, time, scope, sha256(canonical)].join('\n');
  const key = [credentials.region, service, 'aws4_request'].reduce(
    hmac,
    hmac(`AWS4${credentials.secretAccessKey}`, date),
  );
  const signature = hmac(key, toSign).toString('hex');
  const parts = [
    `Credential=${credentials.accessKeyId}/${scope}`,
    `SignedHeaders=${names}`,
    `Signature=${signature}`,
  ];
  return { ...added, authorization: `${algorithm} ${parts.join(', ')}` };
}

function signedHeaders(headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers)
    .map(([name, value]): [string, string] => [
      name.toLowerCase(),
      value.trim().replace(/\s+/g, ' '),
    ])
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

function canonicalQuery(url: URL): string {
  return [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
}

function encode(text: string): string {
  const hex = (letter: string): string => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replace(/[!'()*]/g, hex);
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
