/** Alerts, dashboard and pipeline use existing metrics and labels. */
import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isFailureCode } from '../../src/kernel/failure/failure.ts';
import { eventKinds } from '../../src/observe/event.ts';
import { openBench } from '../e2e/api-client.ts';
import { findExecutable } from '../support/server.ts';
import { deployFolder, readDeploy, readExample, readYaml, variablesIn } from './deploy-files.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly { expr: string; datasource: { type: string; uid: string } }[];
}

const { groups } = readYaml<{ groups: { name: string; rules: Rule[] }[] }>(
  'prometheus/alerts.yaml',
);
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(readDeploy('grafana/dashboard.json')) as { panels: Panel[] };
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const targets = panels.flatMap((panel) => panel.targets ?? []);
const queries = targets.filter(({ datasource }) => datasource.type === 'prometheus');
const expressions = [...rules.map(({ expr }) => expr), ...queries.map(({ expr }) => expr)];

/** Metrics of other programs: of the scraper itself, and of the machine. */
const foreign = ['up', 'node_filesystem_avail_bytes', 'node_filesystem_size_bytes'];

describe('alerts and dashboard', () => {
  test('use existing metrics, and all of them', async (t) => {
    const { ask } = await openBench(t, { work: false });
    const { body } = await ask<string>('GET /metrics');
    const types = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
    const known = new Map(types.flatMap(([, name = '', type = '']) => seriesOf(name, type)));
    const used = new Set(expressions.flatMap(metricsIn));
    const strange = [...used].filter((name) => !known.has(name) && !foreign.includes(name));
    assert.deepEqual(strange, [], 'no such metric');
    const shown = new Set([...used].map((name) => known.get(name)));
    const forgotten = [...new Set(known.values())].filter((name) => !shown.has(name));
    assert.deepEqual(forgotten, [], 'unused metrics');
  });

  test('select existing event kinds and failure codes', () => {
    for (const expression of expressions) {
      for (const [, kind = ''] of expression.matchAll(/kind="(\w+)"/g)) {
        assert.ok((eventKinds as readonly string[]).includes(kind), kind);
      }
      for (const [, code = ''] of expression.matchAll(/code="(\w+)"/g)) {
        assert.ok(isFailureCode(code), code);
      }
    }
  });

  test('never add up what every orchestrator counts for itself', () => {
    const own =
      /^(?:pawl_(?:http|hot|streams|event_loop)|chunking|embedding|job_duration|up$|node_)/;
    for (const expression of expressions) {
      const sums = expression.matchAll(/sum(?: by \([^)]*\))? ?\((?:rate\(|increase\()?(\w+)/g);
      for (const [, name = ''] of sums) {
        if (['max', 'rate', 'increase'].includes(name)) continue;
        assert.match(name, own, `${expression}: take the max over instances first`);
      }
    }
  });

  test('state for every alert its severity, its effect, and what to do', () => {
    assert.ok(rules.length >= 15);
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
    for (const { alert, labels, annotations } of rules) {
      assert.match(alert, /^Pawl[A-Z]\w+$/);
      assert.ok(['critical', 'warning'].includes(labels.severity), alert);
      assert.ok(annotations.summary.length > 15 && annotations.description.length > 15, alert);
    }
  });

  test('show panels that have descriptions and do not overlap', () => {
    assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
    const cells = new Set<string>();
    for (const { title, gridPos } of dashboard.panels) {
      const { x, y, w, h } = gridPos;
      assert.ok(x + w <= 24, title);
      for (let at = 0; at < w * h; at += 1) {
        const cell = `${x + (at % w)}:${y + Math.floor(at / w)}`;
        assert.ok(!cells.has(cell), `${title} covers another panel`);
        cells.add(cell);
      }
    }
    for (const { title, description, targets: asked } of panels) {
      assert.ok((description ?? '').length > 5, title);
      assert.ok((asked ?? []).length > 0, title);
    }
    const uids = new Set(targets.map(({ datasource }) => datasource.uid));
    assert.deepEqual([...uids].sort(), ['${loki}', '${prometheus}']);
  });

  test('fire when they should, according to promtool', (t) => {
    const promtool = findExecutable('promtool');
    if (promtool === undefined) {
      t.skip('promtool is not here; it comes with the package prometheus');
      return;
    }
    const cwd = join(deployFolder, 'prometheus');
    const commands = [
      ['check', 'rules', 'alerts.yaml'],
      ['test', 'rules', 'alerts.test.yaml'],
    ];
    for (const args of commands) {
      const ran: SpawnSyncReturns<string> = spawnSync(promtool, args, { cwd, encoding: 'utf8' });
      assert.equal(ran.status, 0, `${ran.stdout}${ran.stderr}`);
    }
  });
});

describe('the pipeline of Alloy', () => {
  const main = readDeploy('alloy/config.alloy');
  const wholes: Readonly<Record<string, string>> = {
    'in compose': main + readDeploy('alloy/logs-docker.alloy'),
    'in compose with Traefik':
      main + readDeploy('alloy/logs-docker.alloy') + readDeploy('alloy/traefik.alloy'),
    'on a machine':
      main + readDeploy('alloy/logs-journal.alloy') + readDeploy('alloy/profiles.alloy'),
  };

  for (const [where, text] of Object.entries(wholes)) {
    test(`is connected ${where}: all names are defined, and all definitions are used`, () => {
      const code = text.replace(/^\s*\/\/.*$/gm, '');
      assert.equal(code.split('{').length, code.split('}').length, 'braces');
      const blocks = [...code.matchAll(/^([a-z_]+(?:\.[a-z_]+)+) "(\w+)" \{$/gm)];
      const defined = blocks.map(([, kind, label]) => `${kind}.${label}`);
      assert.equal(new Set(defined).size, defined.length);
      const ends = /\b((?:[a-z]\w*\.){2,3}\w+)\.(?:receiver|input|targets|output|rules|handler)\b/g;
      const named = [...code.matchAll(ends)].map(([, name = '']) => name);
      assert.deepEqual(
        named.filter((name) => !defined.includes(name)),
        [],
        'not defined',
      );
      const idle = defined.filter((name) => !named.includes(name) && !isSource(name));
      assert.deepEqual(idle, [], 'defined, and never used');
    });
  }

  test('gets every variable that it reads', () => {
    const compose = readDeploy('compose.yaml');
    const asked = [...main.matchAll(/sys\.env\("(\w+)"\)/g)].map(([, name = '']) => name);
    const told = [...readExample().keys(), ...variablesIn(compose), 'SCRAPE_NAMES'];
    for (const name of asked) {
      assert.ok(told.includes(name), name);
      assert.ok(compose.includes(`      ${name}: `), `${name} is not given to alloy`);
    }
  });
});

/** Entry points, which need no reference. */
function isSource(name: string): boolean {
  return /^(?:prometheus\.scrape|loki\.source|otelcol\.receiver|pyroscope\.ebpf)\./.test(name);
}

/** The query names of a metric, each with its own name. */
function seriesOf(name: string, type: string): [series: string, name: string][] {
  if (type !== 'histogram') return [[name, name]];
  return ['_bucket', '_sum', '_count'].map((end) => [`${name}${end}`, name]);
}

const words = ['unless', 'or', 'and', 'by', 'on', 'without', 'offset', 'bool'];

/** The rest of an expression without labels, ranges, strings, functions and keywords. */
function metricsIn(expression: string): string[] {
  const bare = expression
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, '')
    .replace(/\b(?:by|on|without) ?\([^)]*\)/g, '');
  const names = [...bare.matchAll(/[a-z_]\w*(?!\w|\s*\()/g)].map(([name]) => name);
  return names.filter((name) => !words.includes(name));
}
