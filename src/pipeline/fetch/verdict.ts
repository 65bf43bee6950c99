/** Maps a site's response to its content, or to a failure. */
import { Failure, type FailureCode } from '../../kernel/failure/failure.ts';
import { retryAfterMs } from '../../kernel/text/retry-after.ts';

export interface FetchResponse {
  /** The address after the last redirect. */
  readonly url: URL;
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly bytes: Uint8Array;
  readonly wireBytes: number;
  readonly isCut: boolean;
  /** Every address that redirected, in order. */
  readonly redirects: readonly Redirect[];
}

export interface Redirect {
  readonly from: string;
  readonly status: number;
  readonly to: string;
  /** From https to http: followed, as browsers do, but recorded. */
  readonly isDowngrade: boolean;
}

/**
 * Signs of an anti-bot defence. A row matches if everything it names does; the first matching row
 * decides. The body is checked only for error statuses, because a page may mention captchas without
 * being one.
 */
interface Sign {
  readonly code: Extract<FailureCode, 'captcha' | '403_waf' | '503_shield'>;
  readonly statuses?: readonly number[];
  readonly header?: readonly [name: string, value: RegExp];
  readonly body?: RegExp;
}

const blocked = [403, 405, 406, 429];
const shielded = [429, 503];

const anyOf = (patterns: readonly string[]): RegExp => new RegExp(patterns.join('|'), 'i');

const captchaPage = anyOf([
  ...['g-recaptcha', 'recaptcha/api', 'h-captcha', 'hcaptcha\\.com', 'cf-turnstile'],
  ...['captcha-delivery\\.com', 'px-captcha', 'arkoselabs', 'geetest', 'awsWafCaptcha'],
]);
const challengePage = anyOf([
  '<title>\\s*(?:Just a moment|Checking your browser|DDoS protection|One moment, please)',
  ...['cdn-cgi/challenge-platform', 'jschl[-_]', '_Incapsula_Resource', 'ddos-guard'],
]);
const firewallPage = anyOf([
  ...['Attention Required! \\| Cloudflare', 'Sucuri WebSite Firewall', 'errors\\.edgesuite\\.net'],
  ...['Request unsuccessful\\. Incapsula', 'The requested URL was rejected\\. Please consult'],
  ...['Wordfence', 'mod_security', 'Web Application Firewall'],
]);

export const signs: readonly Sign[] = [
  { code: 'captcha', header: ['x-amzn-waf-action', /captcha/i] },
  { code: '503_shield', header: ['x-amzn-waf-action', /challenge/i] },
  { code: '503_shield', statuses: [503], header: ['cf-mitigated', /challenge/i] },
  { code: '403_waf', header: ['cf-mitigated', /challenge|block/i] },
  { code: 'captcha', statuses: [...blocked, 503], body: captchaPage },
  { code: '503_shield', statuses: shielded, body: challengePage },
  { code: '503_shield', statuses: [503], header: ['server', /^(?:ddos-guard|sucuri)/i] },
  { code: '403_waf', statuses: blocked, header: ['x-sucuri-block', /./] },
  { code: '403_waf', statuses: blocked, header: ['x-datadome', /./] },
  { code: '403_waf', statuses: blocked, body: challengePage },
  { code: '403_waf', statuses: blocked, body: firewallPage },
];

const byStatus: Readonly<Record<number, FailureCode>> = {
  403: 'http_403',
  404: 'http_404',
  408: 'connection_timeout',
  410: 'http_410',
  425: 'network_error',
  429: 'http_429',
};

/** Undefined if the response is content, or says that nothing has changed. */
export function failureOf(answer: FetchResponse, now: number): Failure | undefined {
  const { status, headers, url } = answer;
  const code = signOf(answer)?.code ?? codeOf(status);
  if (code === undefined) return undefined;
  return new Failure(code, `${url.host} answered ${status}`, {
    retryAfterMs: retryAfterMs(headers.get('retry-after'), now),
    context: { domain: url.hostname, status },
  });
}

function codeOf(status: number): FailureCode | undefined {
  if (status === 200 || status === 203 || status === 304) return undefined;
  const known = byStatus[status];
  if (known !== undefined) return known;
  if (status >= 500) return 'http_5xx';
  return status >= 400 ? 'http_4xx' : 'bad_response';
}

function signOf({ status, headers, bytes }: FetchResponse): Sign | undefined {
  const text = status >= 400 ? Buffer.from(bytes).toString('latin1') : '';
  return signs.find((sign) => {
    if (sign.statuses && !sign.statuses.includes(status)) return false;
    if (sign.header && !sign.header[1].test(headers.get(sign.header[0]) ?? '')) return false;
    return !sign.body || sign.body.test(text);
  });
}
