/** The suite of `pawl/testing` for batch providers, on each adapter of Pawl and on the example. */
import { summarizer } from '../../examples/own-batch-provider.ts';
import { batchProviderConformance } from '../../src/testing/index.ts';
import { providerCases } from '../support/batch/providers.ts';

for (const [name, make] of Object.entries(providerCases)) {
  batchProviderConformance(name, async (t) => {
    const { server, body, jobs, make: makeProvider, setClock } = make();
    await server.start(t);
    setClock?.(() => Date.now());
    const { task_type: taskType, models, urls: sources, requests } = body as never;
    const [model] = (models ?? []) as readonly string[];
    return {
      provider: makeProvider(),
      task: { taskType, model, sources, requests },
      started: jobs,
    };
  });
}

batchProviderConformance('of the examples', () => ({
  provider: summarizer(),
  task: { taskType: 'summary', sources: ['https://a.example/one', 'https://a.example/two'] },
}));
