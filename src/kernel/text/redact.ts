/**
 * Redacts addresses. A query or the part before an @ often holds a key or a password, which must
 * not appear in messages, events and logs. Parameter names stay, so that the address can be
 * recognized.
 */
const address = /\bhttps?:\/\/[^\s"'<>]+/gi;
const hidden = '…';

/** The text with every address in it redacted. */
export function redact(text: string): string {
  return text.replace(address, (url) =>
    url
      .replace(/^([a-z]+:\/\/)[^/?#]*@/i, '$1')
      .replace(/#.*$/, '')
      .replace(/\?.*$/, (query) => `?${query.slice(1).split('&').map(withoutValue).join('&')}`),
  );
}

function withoutValue(parameter: string): string {
  const end = parameter.indexOf('=');
  if (parameter === '') return '';
  return end < 0 ? hidden : `${parameter.slice(0, end)}=${hidden}`;
}
