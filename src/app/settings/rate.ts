/** The settings of how much callers may ask for, and how much may wait. */
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
    meaning: 'Requests in an hour that are shared out among the callers of that hour.',
    form,
    parse,
  },
  rateFloor: {
    variable: 'PAWL_RATE_FLOOR',
    initial: rate.floorRequests,
    meaning: 'Requests in an hour that every caller has, however many there are.',
    form,
    parse,
  },
  rateTiers: {
    variable: 'PAWL_RATE_TIERS',
    initial: undefined,
    form: `entries such as ${standardTiers}`,
    meaning:
      'Requests in an hour that a caller of each tier has, where Membership names the tier and ' +
      `no limits of its own. Absent: ${standardTiers}. A tier that is not listed has the floor.`,
    parse: parseTiers,
  },
  queueDepthMax: {
    variable: 'PAWL_QUEUE_DEPTH_MAX',
    initial: rate.queueDepthMax,
    form: `a whole number from 1 to ${rate.queueDepthMost}`,
    meaning:
      'How much may wait: items in the store, and messages in the queue of a service. Whoever ' +
      'would add to more gets 429 `queue_full`; all else is answered.',
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
