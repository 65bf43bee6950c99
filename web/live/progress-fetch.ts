/** `fetch` with upload progress, which the browser's own does not report. */
export function progressFetch(onSent: (bytes: number) => void): typeof fetch {
  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      const stop = (): void => request.abort();
      request.open(init.method ?? 'GET', String(input));
      for (const [name, value] of new Headers(init.headers)) request.setRequestHeader(name, value);
      request.upload.onprogress = ({ loaded }) => onSent(loaded);
      request.onload = () => resolve(responseOf(request));
      request.onerror = () => reject(new TypeError('the request was interrupted'));
      request.onabort = () => reject(new DOMException('stopped', 'AbortError'));
      request.onloadend = () => init.signal?.removeEventListener('abort', stop);
      init.signal?.addEventListener('abort', stop, { once: true });
      if (init.signal?.aborted) reject(new DOMException('stopped', 'AbortError'));
      else request.send(init.body as XMLHttpRequestBodyInit | null);
    });
}

function responseOf(request: XMLHttpRequest): Response {
  const lines = request.getAllResponseHeaders().trim().split('\r\n');
  const pairs = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return new Response(request.responseText, { status: request.status, headers: pairs });
}
