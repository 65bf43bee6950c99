import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { contract } from '../../contract/contract.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { loadConfig } from '../settings/config.ts';
import { type RoleName, roleNames } from '../settings/service.ts';
import { checkRole, roles } from './roles.ts';

const configOf = (environment: Record<string, string>) => loadConfig({ environment }).config;
const complete = {
  PAWL_DATABASE_URL: 'postgres://pawl@127.0.0.1/pawl',
  PAWL_INTERNAL_KEY: 'a-key-of-twenty-four-characters',
  PAWL_ORCHESTRATOR_URL: 'http://127.0.0.1:7300',
  PAWL_CHUNKING_URL: 'http://127.0.0.1:7311',
  PAWL_REDIS_URL: 'redis://127.0.0.1:6379',
};

function told(run: () => void): Failure {
  try {
    run();
  } catch (error) {
    if (error instanceof Failure) return error;
  }
  return assert.fail('nothing was refused');
}

describe('a role', () => {
  for (const role of roleNames) {
    test(`${role} is content with all settings, and names each that it lacks`, () => {
      checkRole(role, configOf(complete));
      const { needs } = roles[role];
      if (needs.length === 0) return checkRole(role, configOf({}));
      const said = told(() => checkRole(role, configOf({})));
      assert.equal(said.code, 'usage_error');
      const named = said.message.match(/PAWL_\w+/g) ?? [];
      assert.equal(named.filter((name) => name !== 'PAWL_REDIS_URL').length, needs.length);
    });
  }

  test('takes the Redis of its own queue, and needs no other', () => {
    const { PAWL_REDIS_URL: url, ...rest } = complete;
    checkRole('scraper', configOf({ ...rest, PAWL_REDIS_SCRAPE_URL: url }));
    assert.throws(() => checkRole('embedding', configOf({ ...rest, PAWL_REDIS_SCRAPE_URL: url })), {
      message: /PAWL_REDIS_EMBED_URL/,
    });
  });

  test('answers routes of the contract, and each service is somebody’s', () => {
    const names = Object.keys(contract);
    const answered = new Set(roleNames.flatMap((role: RoleName) => roles[role].routes));
    for (const name of answered) assert.ok(names.includes(name), name);
    for (const name of ['POST /scrape', 'POST /chunk', 'POST /embed', 'POST /enqueue'] as const) {
      assert.ok(answered.has(name), name);
    }
  });

  test('asks no other service for work, unless it is the orchestrator', () => {
    const asking = roleNames.filter((role) => roles[role].asks.length > 0);
    assert.deepEqual(asking, ['orchestrator']);
  });

  test('takes its work by HTTP alone where it cuts texts: it has no queue', () => {
    const { routes, consumes, asks } = roles.chunking;
    assert.deepEqual([routes, consumes, asks], [['POST /chunk'], [], []]);
  });

  test('of another name is refused with those that there are', () => {
    assert.throws(() => configOf({ PAWL_ROLE: 'boss' }), {
      message:
        /PAWL_ROLE must be one of all, orchestrator, scraper, chunking, embedding, not "boss"/,
    });
  });
});
