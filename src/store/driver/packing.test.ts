import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { limits } from '../../kernel/limits/limits.ts';
import { pack, packLarge, packText, unpack, unpackText } from './packing.ts';

const { bytesMin, sampleBytes } = limits.packing;

test('a text is packed and comes back unchanged, in any script', () => {
  const text = 'Übergröße 返金 🦭 and a walrus.\n'.repeat(50);
  const stored = packText(text);
  assert.equal(stored.body, '');
  assert.ok(stored.packed && stored.packed.length < text.length / 5);
  assert.equal(unpackText(stored), text);
});

test('what is short or does not shrink is stored as it is', () => {
  const short = 'a'.repeat(bytesMin - 1);
  assert.deepEqual(packText(short), { body: short, packed: null });
  assert.equal(unpackText(packText(short)), short);
  assert.equal(pack(randomBytes(10_000)), undefined);
  assert.equal(unpackText(packText('')), '');
});

test('many bytes are packed too, unless their beginning shows that it saves nothing', async () => {
  const text = Buffer.from('the walrus sleeps beside the pier. '.repeat(10_000));
  const packed = await packLarge(text);
  assert.ok(packed && packed.length < text.length / 20);
  assert.deepEqual(Buffer.from(unpack(packed)), text);
  const archive = Buffer.concat([randomBytes(sampleBytes), Buffer.alloc(sampleBytes)]);
  assert.equal(await packLarge(archive), undefined);
});
