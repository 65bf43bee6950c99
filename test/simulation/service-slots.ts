/** Processes that use services: steps have slots there, and items wait for them. */
import type { StepService } from '../../src/kernel/lifecycle/stage.ts';
import { ledgerOver } from '../support/ledger-over.ts';
import type { Plant } from './process.ts';

const embedding = ['embedded', 'entity_extracted'];

function serviceOf(step: string): StepService {
  if (embedding.includes(step)) return 'embedding';
  return step === 'fetched' ? 'scraping' : 'here';
}

/** `onFull` is called for each item that finds no free slot. */
export function withServiceSlots(onFull: () => void = () => undefined): Plant {
  return {
    pipeline: (inner) => ({
      ...inner,
      mayRunAhead: undefined,
      serviceOf: async (step) => serviceOf(step),
      expected: (next) => {
        const isCutFirst = next.includes('chunked');
        return isCutFirst ? 'here' : serviceOf(next[0] ?? '');
      },
    }),
    ledger: (inner) =>
      ledgerOver(inner, {
        report: (report) => {
          if (report.move.to === 'turn' && report.move.service) onFull();
          return inner.report(report);
        },
      }),
  };
}
