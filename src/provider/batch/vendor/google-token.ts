/**
 * Access tokens of a Google service account: a signed claim is exchanged for one, which is cached.
 */
import { createSign } from 'node:crypto';
import { Failure } from '../../../kernel/failure/failure.ts';
import type { World } from '../../../kernel/world.ts';
import { Endpoint } from '../endpoint.ts';

export interface ServiceAccount {
  readonly client_email: string;
  readonly private_key: string;
  readonly token_uri: string;
}

const lifetimeSeconds = 3600;
/** A token that expires soon is not used for a call that may take a while. */
const spareMs = 300_000;

export class GoogleToken {
  readonly #account: ServiceAccount;
  readonly #world: World;
  readonly #fetch: typeof globalThis.fetch | undefined;
  #token: { readonly text: string; readonly endsAt: number } | undefined;

  constructor(account: ServiceAccount, world: World, fetch?: typeof globalThis.fetch) {
    this.#account = account;
    this.#world = world;
    this.#fetch = fetch;
  }

  async get(): Promise<string> {
    const now = this.#world.now();
    if (!this.#token || this.#token.endsAt - spareMs < now) {
      this.#token = { text: await this.#trade(now), endsAt: now + lifetimeSeconds * 1000 };
    }
    return this.#token.text;
  }

  async #trade(now: number): Promise<string> {
    const { token_uri: url } = this.#account;
    const authorize = async () => ({});
    const options = { name: 'Google', url, world: this.#world, authorize, fetch: this.#fetch };
    const body = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: this.#assertion(Math.floor(now / 1000)),
    });
    const answer = await new Endpoint(options).json(url, {
      body: new TextEncoder().encode(body.toString()),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      signal: new AbortController().signal,
    });
    if (typeof answer.access_token === 'string') return answer.access_token;
    throw new Failure('provider_auth', 'Google gave no access token for the service account');
  }

  #assertion(issuedAt: number): string {
    const { client_email: email, private_key: key, token_uri: audience } = this.#account;
    const claims = {
      iss: email,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: audience,
      iat: issuedAt,
      exp: issuedAt + lifetimeSeconds,
    };
    const encoded = [{ alg: 'RS256', typ: 'JWT' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${encoded}.${createSign('RSA-SHA256').update(encoded).sign(key, 'base64url')}`;
  }
}
