/** The routing and the limits of nginx and Traefik, as their files define them. */
import type { Compose } from './deploy-files.ts';
import { readDeploy, readYaml } from './deploy-files.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly hasKey: boolean;
}

export interface Led {
  readonly service: string;
  /** The path that the service sees. */
  readonly path: string;
  /** Only from listed addresses. */
  readonly isInside: boolean;
  /** Each as NAME AVERAGE/BURST; open streams as NAME AMOUNT. */
  readonly limits: readonly string[];
}

interface Location {
  readonly kind: string;
  readonly pattern: string;
  readonly block: string;
}

const routes = readDeploy('nginx/rules/routes.conf');
const rates = new Map(
  [...readDeploy('nginx/rules/limits.conf').matchAll(/zone=(\w+):\S+ rate=(\d+)r\/s/g)].map(
    ([, zone = '', rate = '']) => [zone, rate],
  ),
);
const locations = routes
  .split(/^location /m)
  .slice(1)
  .flatMap((block): Location[] => {
    const [, kind = '', pattern = ''] = /^(?:(=|~\*?) )?(\S+) \{/.exec(block) ?? [];
    return [{ kind, pattern, block }];
  });

/** All request limits of nginx. */
export function nginxLimits(): string[] {
  const all = locations.flatMap(({ block }) => [...limitsIn(block)]);
  return [...new Set(all)].sort();
}

export function nginxLeads({ method, path: asked, hasKey }: Asked): Led {
  const path = rewritten(asked);
  const { block, pattern } = locations.find((location) => matches(location, path)) as Location;
  const rewrite = /rewrite \^ \$(\w+) break;/.exec(block)?.[1];
  const named = rewrite && new RegExp(pattern).exec(path)?.groups?.[rewrite];
  const isCounted = (limit: string): boolean =>
    (method === 'POST' || !/^\w+-submit /.test(limit)) && (hasKey || !limit.startsWith('key-'));
  return {
    service: /proxy_pass http:\/\/(\w+);/.exec(block)?.[1] ?? '',
    path: named ?? path,
    isInside: block.includes('include place/internal.conf;'),
    limits: limitsIn(block).filter(isCounted).sort(),
  };
}

function limitsIn(block: string): string[] {
  const found = [...block.matchAll(/limit_req zone=(\w+) burst=(\d+)/g)];
  const open = [...block.matchAll(/limit_conn ip_streams_open (\d+);/g)];
  return [
    ...found.map(([, zone = '', burst]) => `${zone.replace('_', '-')} ${rates.get(zone)}/${burst}`),
    ...open.map(([, amount]) => `streams-open ${amount}`),
  ];
}

function rewritten(path: string): string {
  const rules = [...routes.matchAll(/^rewrite (\S+) \$1(?: last)?;/gm)];
  return rules.reduce((now, [, rule = '']) => now.replace(new RegExp(rule), '$1'), path);
}

function matches({ kind, pattern }: Location, path: string): boolean {
  if (kind === '=') return path === pattern;
  if (kind === '') return path.startsWith(pattern);
  // Older engines do not support flags within a pattern.
  const plain = pattern.replace('(?s:.+)', '[^]+');
  return new RegExp(plain, kind === '~*' ? 'i' : '').test(path);
}

const { services } = readYaml<Compose>('compose.traefik.yaml');
const labels: Readonly<Record<string, string>> = Object.assign(
  {},
  ...Object.values(services).map((service) => service.labels ?? {}),
);
const label = (name: string): string => labels[`traefik.http.${name}`] ?? '';
const routers = Object.keys(labels)
  .flatMap((name) => /routers\.([\w-]+)\.rule$/.exec(name)?.[1] ?? [])
  .sort((one, other) => priorityOf(other) - priorityOf(one));

export function traefikLimits(): string[] {
  const names = Object.keys(labels).flatMap((l) => /middlewares\.([\w-]+)\./.exec(l)?.[1] ?? []);
  return [...new Set(names.flatMap(limitOf))].sort();
}

export function traefikLeads(asked: Asked): Led {
  const router = routers.find((name) => isFor(label(`routers.${name}.rule`), asked)) ?? '';
  const chain = label(`routers.${router}.middlewares`).split(',');
  const prefixes = label('middlewares.unnamed.stripprefix.prefixes').split(',');
  const named = prefixes.find((prefix) => asked.path.startsWith(prefix)) ?? '';
  return {
    service: label(`routers.${router}.service`),
    path: chain.includes('unnamed') ? asked.path.slice(named.length) : asked.path,
    isInside: chain.includes('inside'),
    limits: chain.flatMap(limitOf).sort(),
  };
}

function priorityOf(router: string): number {
  return Number(label(`routers.${router}.priority`));
}

function limitOf(name: string): string[] {
  const open = label(`middlewares.${name}.inflightreq.amount`);
  if (open !== '') return [`${name} ${open}`];
  const limit = `middlewares.${name}.ratelimit`;
  const [average, burst] = [label(`${limit}.average`), label(`${limit}.burst`)];
  return average === '' ? [] : [`${name.replace(/-wide$/, '')} ${average}/${burst}`];
}

/** Parses `A && B || C`, the only form in these rules. */
function isFor(rule: string, asked: Asked): boolean {
  return rule.split(' || ').some((all) => all.split(' && ').every((one) => isTrue(one, asked)));
}

function isTrue(term: string, { method, path, hasKey }: Asked): boolean {
  const [, name, text = ''] = /^(\w+)\(`([^`]*)`(?:, `\.`)?\)$/.exec(term) ?? [];
  if (name === 'Method') return method === text;
  if (name === 'PathPrefix') return path.startsWith(text);
  if (name === 'HeaderRegexp') return text === 'X-API-Key' && hasKey;
  if (name !== 'PathRegexp') throw new Error(`${term} is not supported here`);
  const [, flags = '', pattern = ''] = /^(?:\(\?(\w+)\))?(.*)$/s.exec(text) ?? [];
  return new RegExp(pattern.replaceAll('$$', '$'), flags).test(path);
}
