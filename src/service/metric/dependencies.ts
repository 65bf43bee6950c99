/** Figures about what Pawl leans on: Membership, Redis, and the receivers of webhooks. */
import { Gauge, type Registry } from 'prom-client';
import type { AccessStatus } from '../../access/access.ts';
import { day } from '../../kernel/limits/unit.ts';
import { countDeliveries } from '../../store/delivery/deliveries.ts';
import type { Database } from '../../store/driver/database.ts';

/** What is not configured has no figure. Returns what writes them down before a reading. */
export function addStandingGauge(
  registers: Registry[],
): (standing: AccessStatus | undefined) => void {
  const ready = new Gauge({
    name: 'pawl_dependency_ready',
    help: 'Membership answers; Redis counts requests for all. 0: Pawl does without for a while',
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
    help: 'Webhooks that wait, that wait after a failed try, and that were given up within a day',
    labelNames: ['state'],
    registers,
    async collect() {
      const counts = await countDeliveries(database, { since: now() - day });
      for (const [state, count] of Object.entries(counts)) this.set({ state }, count);
    },
  });
}
