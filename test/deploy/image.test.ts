/** The image: it contains everything that runs, and nothing runs as root. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { readRoot, root } from './deploy-files.ts';

describe('the image', () => {
  const dockerfile = readRoot('Dockerfile');
  const copies = [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, args = '']) =>
    args.split(' ').slice(0, -1),
  );

  test('contains everything that the sources read at run time', () => {
    const read = globSync('src/**/!(*.test).ts', { cwd: root }).flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      const found = [...text.matchAll(/new URL\('(\.\.\/[^']+)', import\.meta\.url\)/g)];
      return found.map(([, target = '']) => join(dirname(path), target));
    });
    assert.ok(read.length >= 4);
    // The source folder itself is only named to shorten stacks.
    const outside = read.filter((target) => target !== './' && !target.startsWith('src'));
    for (const path of outside) {
      const isCopied = copies.some((copy) => path === copy || path.startsWith(`${copy}/`));
      assert.ok(isCopied, `${path} is not in the image`);
    }
  });

  test('is built from files that exist and are not ignored', () => {
    const ignored = readRoot('.dockerignore').split('\n');
    for (const copy of copies) {
      assert.ok(existsSync(join(root, copy)), copy);
      assert.ok(ignored.includes(`!${copy}`), `${copy} is ignored`);
    }
  });

  test('runs as a user other than root, on the supported version of Node', () => {
    assert.match(dockerfile, /^USER [1-9]\d*:[1-9]\d*$/m);
    const { dependencies } = readManifest('scripts/node/package.json');
    const [, major] = /^ARG NODE=node:(\d+)\.\d+\.\d+-\w+-slim$/m.exec(dockerfile) ?? [];
    assert.equal(major, dependencies.node?.split('.')[0]);
  });

  test('has the drivers of all servers, in the versions that are tested', () => {
    const { devDependencies, peerDependencies } = readManifest('package.json');
    const notServers = /^(?:onnxruntime-node|playwright-core|ai|@langchain\/.+|@llamaindex\/.+)$/;
    const drivers = Object.keys(peerDependencies).filter((name) => !notServers.test(name));
    assert.deepEqual(
      [...dockerfile.matchAll(/([\w-]+)@(\d[\d.]+)/g)].map(([, name, version]) => [name, version]),
      drivers.map((name) => [name, devDependencies[name]]),
    );
  });
});

type Versions = Readonly<Record<string, string>>;

function readManifest(path: string) {
  return JSON.parse(readFileSync(join(root, path), 'utf8')) as {
    dependencies: Versions;
    devDependencies: Versions;
    peerDependencies: Versions;
  };
}
