/** The settings of rate limits and queue limits. */
import { limits } from '../../kernel/limits/limits.ts';
import { wholeNumber } from './forms.ts';
import type { Setting } from './settings.ts';

export interface RateConfig {
  readonly rateCapacity: number;
  readonly rateFloor: number;
  readonly rateTiers: Readonly<Record<string, number>> | undefined;
  readonly queueDepthMax: number;
}

const { rate, membership } = limits;
const form = `a whole number from 1 to ${rate.claimedRequestsMax}`;
const parse = (text: string) => wholeNumber(text, rate.claimedRequestsMax);
const standardTiers = Object.entries(rate.tiers)
  .map(([name, requests]) => `${name}=${requests}`)
  .join(',');

export const rateSettings: { readonly [K in keyof RateConfig]: Setting<K> } = {
  rateCapacity: {
    variable: 'PAWL_RATE_CAPACITY',
    initial: rate.capacityRequests,
    meaning: 'Requests per hour that are shared among the active callers.',
    form,
    parse,
  },
  rateFloor: {
    variable: 'PAWL_RATE_FLOOR',
    initial: rate.floorRequests,
    meaning: 'Requests per hour that every caller gets, regardless of the number of callers.',
    form,
    parse,
  },
  rateTiers: {
    variable: 'PAWL_RATE_TIERS',
    initial: undefined,
    form: `entries such as ${standardTiers}`,
    meaning:
      'Requests per hour for callers of each tier, if Membership returns the tier without ' +
      `its own limits. Absent: ${standardTiers}. An unlisted tier gets the floor.`,
    parse: parseTiers,
  },
  queueDepthMax: {
    variable: 'PAWL_QUEUE_DEPTH_MAX',
    initial: rate.queueDepthMax,
    form: `a whole number from 1 to ${rate.queueDepthMost}`,
    meaning:
      'Maximum queue length: items in the store, and messages in the queue of a service. ' +
      'Beyond it, new work is refused with 429 `queue_full`; other requests are answered.',
    parse: (text) => wholeNumber(text, rate.queueDepthMost),
  },
};

function parseTiers(text: string): Readonly<Record<string, number>> | undefined {
  const tiers: [string, number][] = [];
  for (const entry of text.split(',')) {
    const [, name = '', figure = ''] = /^\s*([\x20-\x7e]+?)\s*=\s*(\d+)\s*$/.exec(entry) ?? [];
    const requests = parse(figure);
    const isName = name !== '' && name.length <= membership.claimCharactersMax;
    if (!isName || requests === undefined) return undefined;
    tiers.push([name, requests]);
  }
  return Object.fromEntries(tiers);
}
