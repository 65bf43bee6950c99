/**
 * Addresses as they may be told: what stands in a query or before an @ is often a key or a
 * password, and has no place in messages, events and logs. The names of parameters stay, so that
 * an address can be recognized.
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
