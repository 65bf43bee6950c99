/** Processes that ask services: steps have places of their own, and items wait for them. */
import type { StepService } from '../../src/kernel/lifecycle/stage.ts';
import { ledgerOver } from '../support/ledger-over.ts';
import type { Plant } from './process.ts';

const embedding = ['embedded', 'entity_extracted'];

function workplaceOf(step: string): StepService {
  if (embedding.includes(step)) return 'embedding';
  return step === 'fetched' ? 'scraping' : 'here';
}

/** `onBench` is told of each item that finds no place. */
export function seated(onBench: () => void = () => undefined): Plant {
  return {
    pipeline: (inner) => ({
      ...inner,
      mayRunAhead: undefined,
      workplaceOf: async (step) => workplaceOf(step),
      expected: (next) => {
        const isCutFirst = next.includes('chunked');
        return isCutFirst ? 'here' : workplaceOf(next[0] ?? '');
      },
    }),
    ledger: (inner) =>
      ledgerOver(inner, {
        report: (report) => {
          if (report.move.to === 'turn' && report.move.bench) onBench();
          return inner.report(report);
        },
      }),
  };
}
