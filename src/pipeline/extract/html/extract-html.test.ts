import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import { extractHtml, type HtmlContent } from './extract-html.ts';

const samples = join(import.meta.dirname, '../../../../test/samples/html');

function contentOf(html: string, url?: string): HtmlContent {
  const extract = extractHtml(html, url === undefined ? {} : { url });
  assert.ok(extract.found, `no content: ${extract.found ? '' : extract.reason}`);
  return extract;
}

function readSample(name: string): string {
  return readFileSync(join(samples, name), 'utf8');
}

describe('a page becomes Markdown', () => {
  for (const path of globSync('*.html', { cwd: samples })) {
    const name = basename(path, '.html');
    test(`as in ${name}.md`, () => {
      const expected = readSample(`${name}.md`);
      assert.equal(`${contentOf(readSample(path)).markdown}\n`, expected);
    });
  }
});

describe('the metadata of a page', () => {
  test('comes from JSON-LD and meta elements', () => {
    const content = contentOf(readSample('article.html'), 'https://post.example/x?y=1');
    assert.equal(content.title, 'River ferry returns after forty years');
    assert.equal(content.author, 'Ada Moor, Jan Pike');
    assert.equal(content.published, '2024-05-06T06:30:00.000Z');
    assert.equal(content.canonical, 'https://post.example/ferry');
    assert.equal(content.language, 'en');
    assert.equal(content.meta.site, 'The Harbour Post');
  });

  test('the language is guessed if none is declared', () => {
    assert.equal(contentOf(readSample('german-news.html')).language, 'de');
  });

  test('the title omits the name of the site', () => {
    assert.equal(contentOf(readSample('documentation.html')).title, 'Configure the queue');
  });

  test('an invalid or non-web address is not a canonical one', () => {
    const page = (href: string) => `<html><head><link rel="canonical" href="${href}"></head>
      <body><p>Some words, so that there is a page.</p></body></html>`;
    assert.equal(contentOf(page('javascript:alert(1)')).canonical, undefined);
    assert.equal(contentOf(page('/relative')).canonical, undefined);
  });
});

describe('the title is that of the page, not of the site', () => {
  const titles: readonly (readonly [tab: string, heading: string, title: string])[] = [
    ['Glossary — Boatyard 4.2 documentation', 'Glossary<a href="#glossary">¶</a>', 'Glossary'],
    ['pump: The Boatyard Manual', 'pump', 'pump'],
    ['The Boatyard Manual', 'Pumps', 'Pumps'],
  ];
  for (const [tab, heading, title] of titles) {
    test(`${tab}: ${title}`, () => {
      const html = `<html><head><title>${tab}</title></head><body><h1>${heading}</h1>
        <p>Some words, so that there is a page.</p></body></html>`;
      assert.equal(contentOf(html).title, title);
    });
  }
});

test('a heading that links to the home page does not name the page', () => {
  const { title } = contentOf(`<html><head><title>Pumps | Boatyard</title></head><body><main>
    <h1><a href="/">Boatyard 4.2 documentation</a></h1><h1>Pumps of all kinds</h1>
    <p>Call <code>pump()</code>, and see <code>bilge()</code>.</p></main></body></html>`);
  assert.equal(title, 'Pumps of all kinds');
});

test('a heading with links in it names the page', () => {
  const { title } = contentOf(`<html><head><title>Oar in boat::tool - Rows</title></head><body>
    <h1>Struct <a href="../">boat</a>::<a href="./">tool</a>::<a href="#">Oar</a></h1>
    <p>Call <code>row()</code>, and see <code>rest()</code>.</p></body></html>`);
  assert.equal(title, 'Struct boat::tool::Oar');
});

test('a page whose code, date and scripts leave its kind open is titled by its heading', () => {
  const { title, meta } = contentOf(`<html><head><title>Moving house: from 1.0 to 2.0</title>
    <meta name="date" content="2024-05-06"></head><body>${'<script></script>'.repeat(4)}
    <h1 id="x">Changes from 1.0</h1><p>${'The function moves every boat. '.repeat(20)}</p>
    <pre>move(boat)</pre></body></html>`);
  assert.equal(meta.genre, 'reference');
  assert.equal(title, 'Changes from 1.0');
});

test('an unclosed heading does not swallow the page', () => {
  const paragraph = `<p>${'The ferry crossed the river at noon. '.repeat(20)}</p>`;
  const { markdown } = contentOf(`<html><body><h2>Ferry${paragraph.repeat(3)}</body></html>`);
  assert.ok(markdown.split('\n\n').length > 3, markdown.slice(0, 200));
});

/** A page with more elements than Readability is used for. */
const many = 16_000;

test('a reference page of any size keeps its terms, code and headings', () => {
  const entries = Array.from(
    { length: many / 4 },
    (_value, number) => `<dt><code>name${number}</code></dt><dd>Meaning ${number}.</dd>`,
  );
  const html = `<html><body><div class="nav"><a href="/">Home</a></div><h1>Names</h1>
    <h2><a href="#x">All of them</a></h2><dl>${entries.join('')}</dl></body></html>`;
  const { text, keptShare } = contentOf(html);
  assert.ok(text.includes(`Meaning ${many / 4 - 1}.`) && text.includes('name0\n'));
  assert.ok(text.includes('All of them') && !text.includes('Home'));
  assert.equal(keptShare, 1);
});

test('an article of any size keeps its paragraphs and drops its teasers', () => {
  const sentence =
    'The ferry crossed the river at noon, and nobody on board was in a hurry at all.';
  const story = `<p>${'<span>'.repeat(3)}${sentence}${'</span>'.repeat(3)}</p>`.repeat(many / 4);
  const teaser = '<li class="related"><img src="t.png"><a href="/next">More on boats</a></li>';
  const html = `<html><head><meta property="og:type" content="article">
    <meta property="article:published_time" content="2024-05-06"></head><body>
    <article><h1>Ferry</h1>${story}</article><ul class="related">${teaser.repeat(40)}</ul>
    ${'<script></script>'.repeat(20)}</body></html>`;
  const { text, meta } = contentOf(html);
  assert.equal(meta.genre, 'article');
  assert.equal(text.split(sentence).length - 1, many / 4);
  assert.doesNotMatch(text, /More on boats/);
});

test('dropped text has a reason, and kept text a share', () => {
  const { dropped, keptShare } = contentOf(readSample('manual.html'));
  assert.equal(keptShare, 1);
  assert.deepEqual(
    dropped.map(({ reason, text }) => `${reason}: ${text}`),
    ['outside: Prev', 'outside: Part 2', 'outside: Next', 'footer: Built on Monday. About'],
  );
});

test('an article whose text was dropped in part has a lower share', () => {
  const paragraph =
    '<p>The ferry crossed the river at noon, and nobody on board was in a hurry, as ever.</p>';
  const caption =
    '<figure><figcaption>Foto: the ferry at noon, on its way to the other side, with few aboard.' +
    '</figcaption></figure>';
  const html = `<html><head><meta property="og:type" content="article">
    <meta property="article:published_time" content="2024-05-06"></head><body>
    ${'<script></script>'.repeat(20)}<div class="post-content">${paragraph.repeat(12)}</div>
    <div><div><div>${caption.repeat(12)}</div></div></div>
    </body></html>`;
  const { keptShare, meta } = contentOf(html);
  assert.equal(meta.genre, 'article');
  assert.ok(keptShare > 0.4 && keptShare < 0.6, String(keptShare));
});

const noContent: readonly (readonly [name: string, html: string, reason: string])[] = [
  ['nothing at all', '', 'empty_page'],
  ['only tags', '<html><body><div><img src="a.png"></div></body></html>', 'empty_page'],
  [
    'an application that has yet to start',
    '<html><body><div id="root">Loading...</div><script src="app.js"></script></body></html>',
    'script_only_page',
  ],
  [
    'a plea to turn scripts on',
    '<html><body><noscript>You need JavaScript.</noscript><script>run()</script></body></html>',
    'script_only_page',
  ],
  [
    'a login form',
    '<html><body><h1>Sign in</h1><form><label>Name</label><input><input type="password"></form>',
    'login_wall',
  ],
];

describe('a page without usable content says why', () => {
  for (const [name, html, reason] of noContent) {
    test(`${name}: ${reason}`, () => {
      assert.deepEqual(extractHtml(html), { found: false, reason });
    });
  }
});

test('hidden words are dropped', () => {
  const html = readSample('article.html');
  assert.match(html, /Ignore all that was said before/);
  assert.doesNotMatch(contentOf(html).text, /Ignore all that was said before/);
});

test('scripts, frames and event handlers leave nothing behind', () => {
  const { markdown } = contentOf(
    `<html><body><p>Plain words stay, and there are enough of them to be read.</p>
     <script>alert('scripted')</script><iframe src="http://127.0.0.1/">framed</iframe>
     <svg onload="alert(1)"><text>drawn</text></svg><img src=x onerror="alert('failed')"></body>`,
  );
  assert.equal(markdown, 'Plain words stay, and there are enough of them to be read.');
});
