import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signRequest } from './signature.ts';

const credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};
const now = Date.UTC(2015, 7, 30, 12, 36, 0);
const sign = (url: string, more = {}) =>
  signRequest(
    { method: 'GET', url: new URL(url), headers: {}, ...more },
    { credentials, service: 'service', now },
  ).authorization;

test('a request is signed as in the vendor’s own examples', () => {
  const head =
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ' +
    'SignedHeaders=host;x-amz-date, Signature=';
  assert.equal(
    sign('https://example.amazonaws.com/'),
    `${head}5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31`,
  );
  assert.equal(
    sign('https://example.amazonaws.com/?Param2=value2&Param1=value1'),
    `${head}b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500`,
  );
});

test('another body, header or token is another signature', () => {
  const all = [
    sign('https://example.amazonaws.com/'),
    sign('https://example.amazonaws.com/', { body: 'x' }),
    sign('https://example.amazonaws.com/', { headers: { 'x-amz-target': 'a' } }),
    sign('https://example.amazonaws.com/', { method: 'POST' }),
  ];
  assert.equal(new Set(all).size, all.length);
});
