/** Parses URLs once, decides on the parsed result, and writes one canonical form. */
import { getDomain } from 'tldts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';

/** Parses a URL from a user or from a redirect. */
export function readUrl(text: string, parent?: string): URL {
  const shown = JSON.stringify(text.slice(0, 100));
  if (text.length > limits.fetch.urlCharactersMax) {
    const most = `${limits.fetch.urlCharactersMax} are the most`;
    const message = `the address has ${text.length} characters, and ${most}`;
    throw new Failure('invalid_url', message);
  }
  if (!URL.canParse(text, parent)) throw new Failure('invalid_url', `${shown} is not a URL`);
  const url = new URL(text, parent);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Failure('invalid_url', `${url.protocol} addresses are not read, only http and https`);
  }
  // Never repeat what may be a password.
  if (url.username !== '' || url.password !== '') {
    throw new Failure('invalid_url', 'an address must not hold a user name or a password');
  }
  if (!isHostname(url.hostname)) {
    throw new Failure('invalid_url', `${shown} does not name a host that can exist`);
  }
  url.hash = '';
  return url;
}

/** DNS limits: labels of up to 63 characters, 253 in total. */
function isHostname(hostname: string): boolean {
  if (hostname.startsWith('[')) return true;
  const name = hostname.replace(/\.$/, '');
  const labels = name.split('.');
  return (
    name.length <= 253 && labels.every((label) => label.length <= 63 && !/^(?:xn--)?$/.test(label))
  );
}

/** Tracking parameters, which do not affect the content. */
const trackingParameter = new RegExp(
  `^(?:utm_[^=]*|${[
    ...['gclid', 'gclsrc', 'dclid', 'wbraid', 'gbraid', '_ga', '_gl', 'fbclid', 'igshid', 'igsh'],
    ...['msclkid', 'yclid', 'ysclid', 'twclid', 'ttclid', 'li_fat_id', 'mc_cid', 'mc_eid'],
    ...['_hsenc', '_hsmi', 'mkt_tok', 'vero_id', 'oly_anon_id', 'oly_enc_id', 'epik', 'srsltid'],
  ].join('|')})(?:=|$)`,
  'i',
);

/**
 * One form for all spellings of an address: the host in lower case without a final dot, no default
 * port, no fragment, no tracking parameters, percent-encoding only where it has a meaning. The
 * order of the other parameters is kept: servers may depend on it.
 */
export function canonicalUrl(url: URL): string {
  const host = url.host.replace(/\.(?=:|$)/, '');
  const parameters = url.search
    .slice(1)
    .split('&')
    .filter((parameter) => parameter !== '' && !trackingParameter.test(parameter));
  const search = parameters.length > 0 ? `?${parameters.join('&')}` : '';
  return `${url.protocol}//${host}${normalEncoding(`${url.pathname}${search}`)}`;
}

/** `%7e` is `~` and `%c3` is `%C3`: letters, digits and `-._~` need no encoding. */
export function normalEncoding(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[A-Za-z0-9\-._~]/.test(character) ? character : code.toUpperCase();
  });
}

/**
 * The site of an address, the unit of politeness: the registered part of the name (`example.co.uk`,
 * `someone.github.io`), or the host itself if there is none, as for addresses and for internal
 * names.
 */
export function gateOf(url: URL): string {
  return getDomain(url.hostname, { allowPrivateDomains: true }) ?? url.hostname;
}
