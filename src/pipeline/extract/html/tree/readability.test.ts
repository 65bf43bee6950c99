/**
 * Readability was written for a browser's tree. Here, a missing property that it reads is an error,
 * where JavaScript would continue with `undefined`: a Readability version that needs more is
 * detected here, and not by worse texts.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { Readability } from '@mozilla/readability';
import { parseTree, TreeDocument } from './document.ts';
import { TreeElement } from './element.ts';
import { TreeLeaf } from './leaf.ts';

/** Properties that it reads to distinguish node types, or writes itself before. */
const mayBeAbsent: readonly (readonly [prototype: object, names: readonly string[]])[] = [
  [TreeElement.prototype, ['__JSDOMParser__', '_readabilityDataTable']],
  [TreeLeaf.prototype, ['__JSDOMParser__', 'tagName']],
  [TreeDocument.prototype, ['tagName']],
];

before(() => {
  for (const [prototype, absent] of mayBeAbsent) {
    const refuse = (name: string | symbol) => {
      if (typeof name === 'symbol' || name in Object.prototype || absent.includes(name)) return;
      throw new Error(`the tree has no ${name}`);
    };
    const guard = new Proxy(Object.prototype, {
      get: (target, name, receiver) => {
        refuse(name);
        return Reflect.get(target, name, receiver);
      },
      set: (target, name, value, receiver) => {
        refuse(name);
        return Reflect.set(target, name, value, receiver);
      },
    });
    Object.setPrototypeOf(prototype, guard);
  }
});

const sentence = 'The ferry, which had not sailed for years, came back to the harbour in spring. ';
const prose = `<p>${sentence.repeat(3)}</p>`;

function read(html: string): string | undefined {
  const document = parseTree(`<html lang="en"><head><title>Ferry</title></head>${html}</html>`);
  return (
    new Readability(document as never, { keepClasses: false }).parse()?.textContent ?? undefined
  );
}

/** Name, body, and what the result must or must not contain. */
const pages: readonly (readonly [what: string, body: string, kept: RegExp, dropped?: RegExp])[] = [
  ['paragraphs beside menus', `<nav class="menu">Home</nav>${prose.repeat(4)}`, /ferry/, /Home/],
  [
    'divisions that are paragraphs, and breaks that part them',
    `<div>${sentence.repeat(4)}<br> <br>${sentence.repeat(4)}<br><br><b>x</b><br>y</div>
     <div><p>${sentence.repeat(3)}</p></div><div> <br> </div><section></section><h2></h2>
     <p>a<br><br>b<br></p><font color="red">c</font>`,
    /ferry/,
  ],
  [
    'what is hidden, or a dialogue',
    `<div style="display:none">no1</div><div hidden>no2</div><div aria-hidden="true">no3</div>
     <div role="dialog" aria-modal="true">no4</div><div role="menu">no5</div>${prose.repeat(4)}`,
    /ferry/,
    /no\d/,
  ],
  [
    'who wrote it, and its title again',
    `<h1>Ferry</h1><div class="byline">By <span itemprop="name">Ada</span></div>${prose.repeat(4)}`,
    /ferry/,
    /Ada/,
  ],
  [
    'images that wait, in figures and for those without scripts',
    `<p><img class="lazy" data-src="a.jpg"><img src="data:image/gif;base64,AA" data-x="b.jpg 2x">
     <img src="data:image/svg+xml;base64,AA"><picture data-src="c.png"></picture>
     <figure data-src="d.webp"></figure><img></p><div><img src="e.jpg" alt=""></div>
     <noscript><img src="f.jpg" srcset="f.jpg 2x, g.jpg 3x"></noscript>
     <noscript>words</noscript>${prose.repeat(4)}<video poster="h.jpg" src="h.mp4"></video>`,
    /ferry/,
  ],
  [
    'tables of figures and of layout',
    `<div>${prose.repeat(4)}<table summary="s"><tr><td>a</table><table><caption>c</caption></table>
     <table role="presentation"><tr><td>${sentence}</table><table datatable="0"><tr><td>b</table>
     <table><tr><th>d</table><table><tr><td><table><tr><td>e</table></table>
     <table>${'<tr><td>1<td>2'.repeat(12)}</table><table><tr rowspan=2><td colspan=3>f<tr><td>g
     </table><table><tbody><tr><td>${sentence}</tr></tbody></table></div>`,
    /ferry/,
  ],
  [
    'links of all kinds',
    `<div>${prose.repeat(4)}<p>${sentence}<a href="#x">a</a> <a href="/b">b</a>
     <a href="javascript:c()">c</a> <a href="javascript:d()"><i>d</i>e</a> <a>f</a></p></div>`,
    /ferry/,
  ],
  [
    'what is embedded, forms and lists',
    `<div>${prose.repeat(4)}<iframe src="https://www.youtube.com/x"></iframe><embed src="y">
     <object><param></object><form><input><button>no</button></form><fieldset>no</fieldset>
     <footer>no</footer><aside>no</aside><div class="share">no</div><h2 class="promo">no</h2>
     <ul><li><a href=x>no</a></li><li><img src="i.jpg"></li></ul><ul><li><img src="j.jpg"></li>
     </ul><div>Loading...</div><div><object data="z"></object></div><pre><code><div>k</div>
     </code></pre></div>`,
    /ferry/,
  ],
  [
    'articles that stand beside each other',
    Array.from({ length: 5 }, () => `<div class="post"><div>${prose.repeat(3)}</div></div>`).join(
      '',
    ),
    /ferry/,
  ],
  [
    'columns, of which one is the article',
    `<div><div id="rail"><p>${'<a href=x>Elsewhere</a> '.repeat(9)}</p></div><div><div dir="ltr">
     <div class="text" id="content">${prose.repeat(3)}<p>Short one.</p>${prose}
     <div class="note"><span>a</span> <i>b</i></div><div>c <p>d</p> <br>e <br> <p>f</p> </div>
     <p>g<br></p><ol><li>${sentence}</li></ol><dl><dd>${sentence}</dd></dl><pre>${sentence}</pre>
     <blockquote><p>${sentence}</p></blockquote><form><p>${sentence}</p></form>
     <h3>${sentence}</h3><div class="share-box">h</div><div class="wide share">${sentence}</div>
     <br><p>i</p><div aria-hidden="true" class="fallback-image">j</div></div></div></div></div>`,
    /ferry/,
    /Elsewhere/,
  ],
  [
    'parts of one article in boxes of their own',
    `<main><div><div>${`<section><div>${prose}${prose}</div></section>`.repeat(6)}</div>
     <div>${sentence}</div></div></main>`,
    /ferry/,
  ],
  [
    'boxes that look like anything but text',
    `<div>${prose.repeat(5)}<div><img src=a><img src=b><img src=c></div>
     <div>${'<li>k</li>'.repeat(120)}</div><div class="content"><a href=x>${sentence}</a></div>
     <div><p>l</p><embed src="m"></div><div><iframe src="n"></iframe><iframe src="o"></iframe></div>
     <div><object data="//www.youtube.com/p"></object></div><div>Advertisement<p></p></div>
     <ul><li><b>q</b><i>r</i></li></ul><ul><li><a href=x><img src=s></a></li></ul>
     <table><tr><th>t</th></tr><tr><td><div>u</div></td></tr></table><code><div>v</div></code>
     <div>w <a href=x>y</a></div></div>`,
    /ferry/,
  ],
  [
    'a page that is short, which is tried again and again',
    '<div class="comment">Ferry.</div>',
    /F/,
  ],
  ['text of the body itself', `${sentence.repeat(20)}`, /ferry/],
  [
    'a description',
    `<meta name="dc.title" content="a: b">
     <meta property="og:description" content="c &amp;lt; d">${prose.repeat(4)}`,
    /ferry/,
  ],
];

describe('Readability finds everything it needs in the tree', () => {
  for (const [what, body, kept, dropped] of pages) {
    test(what, () => {
      const text = read(`<body>${body}</body>`);
      assert.match(text ?? '', kept);
      if (dropped !== undefined) assert.doesNotMatch(text ?? '', dropped);
    });
  }

  const samples = join(import.meta.dirname, '../../../../../test/samples/html');
  for (const name of globSync('*.html', { cwd: samples })) {
    test(`in ${name}`, () => {
      const html = readFileSync(join(samples, name), 'utf8');
      const document = parseTree(`<html><head></head><body>${html}</body></html>`);
      assert.ok(new Readability(document as never, {}).parse()?.textContent);
    });
  }

  test('and nothing on a page without words', () => {
    assert.equal(read('<body><div></div></body>'), undefined);
  });

  test('to tell the title from the name of the site', () => {
    const titled = (title: string) => {
      const html = `<html><head><title>${title}</title></head>
        <body><h1>The ferry: back again</h1>${prose.repeat(4)}</body></html>`;
      return new Readability(parseTree(html) as never, {}).parse()?.title;
    };
    assert.equal(titled('The ferry: back again'), 'The ferry: back again');
    assert.equal(titled('The ferry is back again | Post'), 'The ferry is back again');
  });

  test('after the end of the page', () => {
    assert.match(read(`<body>${prose.repeat(4)}</body></html><script>x</script>`) ?? '', /ferry/);
  });

  test('and a missing property is an error', () => {
    const element = parseTree('').createElement('p');
    assert.throws(() => Reflect.get(element, 'innerText'), /the tree has no innerText/);
  });
});
