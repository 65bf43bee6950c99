/**
 * Serves the workbench: built files that are part of the sources. They are loaded when the server
 * starts, so a request never becomes a file path.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../kernel/failure/failure.ts';

const built = fileURLToPath(new URL('../../web/dist', import.meta.url));

/**
 * Only scripts, styles and fonts of this server, none inline, and no external resources. The
 * `blob:` addresses are originals of documents, which the workbench has fetched with its key.
 */
export const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' blob:",
  'frame-src blob:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

interface Page {
  readonly body: Buffer;
  readonly packed: Buffer;
  readonly tag: string;
  readonly type: string;
  readonly caching: string;
}

export function serveWorkbench(app: FastifyInstance): void {
  for (const path of listFiles()) {
    const url = path === 'index.html' ? '/' : `/${path}`;
    let page: Page | undefined;
    const config = { name: `GET ${url}`, isOpen: true, isUpload: false, isInternal: false };
    app.get(url, { config }, (request, reply) => {
      page ??= readPage(path);
      return send(page, request, reply);
    });
  }
}

function listFiles(): string[] {
  if (existsSync(join(built, 'index.html'))) {
    return globSync(['*.*', 'assets/*'], { cwd: built }).map((path) => path.replaceAll('\\', '/'));
  }
  const message = 'the workbench has not been built: run `npm run generate`';
  throw new Failure('source_missing', message);
}

function readPage(path: string): Page {
  const body = readFileSync(join(built, path));
  const hash = createHash('sha256').update(body).digest('base64url');
  return {
    body,
    packed: gzipSync(body, { level: 9 }),
    tag: `"${hash.slice(0, 22)}"`,
    type: mediaTypes[extname(path)] ?? 'application/octet-stream',
    // The name of an asset contains its hash.
    caching: path.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
  };
}

function send(page: Page, { headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isPacked = /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''));
  reply.headers({
    'cache-control': page.caching,
    'content-security-policy': policy,
    etag: page.tag,
    vary: 'accept-encoding',
  });
  if (headers['if-none-match'] === page.tag) return reply.code(304).send();
  if (isPacked) reply.header('content-encoding', 'gzip');
  return reply.type(page.type).send(isPacked ? page.packed : page.body);
}
