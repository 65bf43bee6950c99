import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { assemble } from '../../app/wire.ts';
import { inlineSource } from '../../source/sources.ts';
import { newestSequence } from '../../store/delivery/events.ts';
import { News } from './news.ts';

test('news that stops publishes what the relay has read', async (t) => {
  const { database, engine, world, close } = await assemble({ data: temporaryDirectory(t) });
  t.after(close);
  const onError = (what: string, error: unknown): never => {
    throw new Error(what, { cause: error });
  };
  const { relay } = engine;
  const news = new News({ database, relay, world, onError });
  const heard: number[] = [];
  news.listen((published) => heard.push(...published.map(({ event }) => event.seq)));
  await news.start();
  // This listener is called after that of the news, before the news has resolved the owners.
  const stopped = Promise.withResolvers<void>();
  await relay.listen(() => stopped.resolve(news.stop()));
  const sources = [inlineSource({ text: 'A heron.' })];
  await engine.commands.submit({ caller: 'local', corpus: 'a', sources });
  await stopped.promise;
  await relay.close();
  assert.equal(heard.at(-1), await newestSequence(database));
  assert.equal(news.position, heard.at(-1));
});
