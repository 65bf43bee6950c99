/** Metrics of dependencies: Membership, Redis, and webhook receivers. */
import { Gauge, type Registry } from 'prom-client';
import type { AccessStatus } from '../../access/access.ts';
import { day } from '../../kernel/limits/unit.ts';
import { countDeliveries } from '../../store/delivery/deliveries.ts';
import type { Database } from '../../store/driver/database.ts';

/** Unconfigured parts have no metric. Returns the function that updates them before a scrape. */
export function addDependencyGauge(
  registers: Registry[],
): (standing: AccessStatus | undefined) => void {
  const ready = new Gauge({
    name: 'pawl_dependency_ready',
    help:
      'Membership responds; Redis counts requests for all processes. 0: Pawl works without ' +
      'it for a while',
    labelNames: ['dependency'],
    registers,
  });
  return ({ membership, redis } = {}) => {
    const tell = (dependency: string, isReady: boolean): void =>
      ready.set({ dependency }, isReady ? 1 : 0);
    if (membership) tell('membership', membership.circuit === 'closed');
    if (redis) tell('redis', redis.isReady);
  };
}

export function addWebhookGauge(
  registers: Registry[],
  { database, now }: { readonly database: Database; readonly now: () => number },
): void {
  new Gauge({
    name: 'pawl_webhooks',
    help: 'Webhooks that are waiting, waiting after a failed try, and given up within a day',
    labelNames: ['state'],
    registers,
    async collect() {
      const counts = await countDeliveries(database, { since: now() - day });
      for (const [state, count] of Object.entries(counts)) this.set({ state }, count);
    },
  });
}
