/** Traefik instead of nginx: the same routes and limits, with traces and metrics. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Compose,
  interpolate,
  readCompose,
  readDeploy,
  readExample,
  readYaml,
} from './deploy-files.ts';
import { type Led, nginxLeads, nginxLimits, traefikLeads, traefikLimits } from './gateway-table.ts';

const compose = readCompose('compose.yaml', readExample());
const traefik = readYaml<Compose>('compose.traefik.yaml');

describe('compose.traefik.yaml', () => {
  const labels = Object.assign({}, ...Object.values(traefik.services).map((s) => s.labels ?? {}));

  test('replaces the gateway, and adds nothing else', () => {
    const added = Object.keys(traefik.services).filter((name) => !(name in compose.services));
    assert.deepEqual(added, ['traefik']);
    assert.deepEqual(traefik.services.gateway, { profiles: ['nginx'] });
    const { read_only, cap_drop, ports } = traefik.services.traefik ?? {};
    assert.deepEqual([read_only, cap_drop, ports?.length], [true, ['ALL'], 1]);
  });

  test('sends traces if Pawl does, and none otherwise', () => {
    const flags = (url: string): string[] => {
      const given = new Map([['PAWL_OTLP_URL', url]]);
      return (traefik.services.traefik?.command ?? []).map((flag) => interpolate(flag, given));
    };
    const rate = (url: string): number =>
      Number(
        flags(url)
          .find((flag) => flag.startsWith('--tracing.samplerate='))
          ?.split('=')[1],
      );
    assert.deepEqual([rate(''), rate('http://alloy:4318')], [0, 1]);
    const endpoint = '--tracing.otlp.http.endpoint=http://alloy:4318/v1/traces';
    assert.ok(flags('http://alloy:4318').includes(endpoint));
  });

  test('has its metrics collected, on the port that exposes them', () => {
    const command = traefik.services.traefik?.command ?? [];
    const [, port] = /--entrypoints\.figures\.address=:(\d+)/.exec(command.join(' ')) ?? [];
    assert.ok(command.includes('--metrics.prometheus.entrypoint=figures'));
    const mounted = './alloy/traefik.alloy:/etc/alloy/traefik.alloy:ro';
    assert.deepEqual(traefik.services.alloy?.volumes, [mounted]);
    assert.match(readDeploy('alloy/traefik.alloy'), new RegExp(`port += ${port}\n`));
  });

  test('has exactly the limits of nginx', () => {
    assert.deepEqual(traefikLimits(), nginxLimits());
  });

  const named = [
    '',
    '/v1',
    '/api/orchestrator/v1',
    '/api/orchestrator',
    '/api/scraper',
    '/api/chunking',
    '/api/embedding',
  ];
  const paths = [
    ...['/', '/docs', '/jobs', '/jobs/', '/jobs/upload', '/jobs/some-id', '/jobs/some-id/pause'],
    ...['/jobs/some-id/stream', '/stream', '/staging', '/attempt', '/batch/tasks', '/inbox'],
    ...['/inbox/retry', '/inbox/discard', '/corpora', '/corpora/a/reembed', '/corpora/a/budget'],
    ...['/search', '/scrape', '/chunk', '/embed', '/enqueue', '/enqueue/', '/enqueue/some-id'],
    ...['/metrics', '/METRICS', '/callbacks', '/callbacks/', '/corpora/callbacks'],
    ...['/jobs/some-id/complete', '/jobs/some-id/begin', '/jobs/a/b/heartbeat/', '/healthz'],
  ];

  for (const path of named.flatMap((name) => paths.map((rest) => `${name}${rest}`))) {
    test(`routes ${path} like nginx, under the same limits`, () => {
      for (const method of ['GET', 'POST']) {
        const asked = { method, path, hasKey: true };
        const [there, here] = [nginxLeads(asked), traefikLeads(asked)];
        // Pawl ignores a trailing slash, and removes the version itself.
        const plain = (text: string): string =>
          text.replace(/(?!^)\/$/, '').replace(/^\/v1(?=\/|$)/, '') || '/';
        const trim = (led: Led): Led => ({ ...led, path: plain(led.path) });
        assert.deepEqual(trim(here), trim(there), method);
        assert.notEqual(here.service, '');
      }
    });
  }

  test('counts anonymous page requests per client', () => {
    const asked = { method: 'GET', path: '/docs', hasKey: false };
    assert.deepEqual(traefikLeads(asked), nginxLeads(asked));
  });

  test('names middlewares and services that it defines', () => {
    const names = Object.keys(labels);
    for (const [label, value] of Object.entries(labels)) {
      if (label.endsWith('.middlewares')) {
        for (const name of String(value).split(',')) {
          assert.ok(
            names.some((n) => n.startsWith(`traefik.http.middlewares.${name}.`)),
            name,
          );
        }
      }
      if (/routers\.[\w-]+\.service$/.test(label)) {
        assert.ok(
          names.some((n) => n.startsWith(`traefik.http.services.${value}.`)),
          String(value),
        );
      }
    }
  });
});
