/**
 * Visible content that mammoth skips inside elements that it reads: the result of a simple field,
 * such as a date or the number of a figure, and text with ruby annotations.
 */

const fieldTag = /<\/?(?:\w{1,10}:)?fldSimple(?:\s(?:"[^"]*"|'[^']*'|[^<>"'])*)?\/?>/g;
const ruby = /<((?:\w{1,10}:)?)ruby>([\s\S]*?)<\/\1ruby>/g;
const reading = /<(?:\w{1,10}:)?rt>([\s\S]*?)<\/(?:\w{1,10}:)?rt>/;
const base = /<(?:\w{1,10}:)?rubyBase>([\s\S]*?)<\/(?:\w{1,10}:)?rubyBase>/;
const word = /<(?:\w{1,10}:)?t(?:\s[^<>]*)?>([^<]*)<\//g;

export function withFields(xml: string): string {
  return xml.replace(fieldTag, '').replace(ruby, (_, prefix: string, inner: string) => {
    const above = textOf(reading.exec(inner)?.[1] ?? '');
    const text = textOf(base.exec(inner)?.[1] ?? '');
    const shown = above === '' ? text : `${text}(${above})`;
    return `<${prefix}t xml:space="preserve">${shown}</${prefix}t>`;
  });
}

/** Still XML-escaped. */
function textOf(xml: string): string {
  return Array.from(xml.matchAll(word), ([, text = '']) => text).join('');
}
