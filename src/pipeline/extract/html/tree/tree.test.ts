import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, test } from 'node:test';
import { parseTree } from './document.ts';
import type { TreeElement } from './element.ts';
import type { TreeNode } from './node.ts';

function bodyOf(html: string): TreeElement {
  const { body } = parseTree(`<html><head></head><body>${html}</body></html>`);
  assert.ok(body);
  return body;
}

/** Input, and the markup of the resulting tree. */
const parsed: readonly (readonly [what: string, html: string, markup: string])[] = [
  [
    'a paragraph ends where the next begins',
    '<p>a<p>b<div>c</div>',
    '<p>a</p><p>b</p><div>c</div>',
  ],
  ['an item ends where the next begins', '<ul><li>a<li>b</ul>c', '<ul><li>a</li><li>b</li></ul>c'],
  [
    'cells and rows end where the next begin',
    '<table><tr><td>a<td>b<tr><td>c</table>',
    '<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>',
  ],
  ['what never closes is closed at the end', '<div><b>a', '<div><b>a</b></div>'],
  ['an end without a start is nothing', 'a</div></span>b', 'ab'],
  ['names are in small letters', '<DIV ID=x>a</DIV>', '<div id="x">a</div>'],
  ['elements without content need no end', 'a<br>b<img>c<hr/>', 'a<br>b<img>c<hr>'],
  ['a slash closes no division', '<div/>a', '<div>a</div>'],
  ['entities are decoded once', '&lt;a&gt; &amp;amp; &eacute;', '&lt;a&gt; &amp;amp; é'],
  ['a script holds no tags', '<script>1<b>2</script>', '<script>1<b>2</script>'],
  ['a text field holds no tags', '<textarea><p></textarea>', '<textarea><p></textarea>'],
  ['the first of two equal attributes counts', '<p id=a id=b></p>', '<p id="a"></p>'],
  ['quotes in a value stay in it', `<p id='"'></p>`, '<p id="&quot;"></p>'],
  [
    'entities in a value are decoded once',
    '<p id="&amp;lt;&quot;"></p>',
    '<p id="&amp;lt;&quot;"></p>',
  ],
  ['entities in a title are decoded once', '<title>&amp;lt;</title>', '<title>&amp;lt;</title>'],
  ['a comment stays one', 'a<!-- <p> -->b', 'a<!-- <p> -->b'],
];

describe('markup becomes a tree', () => {
  for (const [what, html, markup] of parsed) {
    test(what, () => {
      const body = bodyOf(html);
      assert.equal(body.innerHTML, markup);
      body.innerHTML = markup;
      assert.equal(body.innerHTML, markup, 'its markup gives the same tree');
    });
  }

  test('text is what no tag, comment or attribute is', () => {
    assert.equal(bodyOf('<p id=x>a<b>b</b><!-- no -->c</p>d').textContent, 'abcd');
  });

  test('a tag that is cut off by the end of the page is not an element', () => {
    assert.equal(parseTree('<html><body><p>a<div class="b').body?.innerHTML, '<p>a</p>');
  });
});

describe('a page that lacks a part is given an empty one', () => {
  test('a body after the head, a head before all else', () => {
    const document = parseTree('<html><p>a</p></html>');
    assert.equal(document.body?.innerHTML, '');
    assert.equal(document.documentElement?.innerHTML, '<head></head><body></body><p>a</p>');
    assert.equal(document.body, document.body);
  });

  test('without any element there is neither', () => {
    const document = parseTree('words');
    assert.deepEqual([document.documentElement, document.head, document.body], [null, null, null]);
    assert.equal(document.title, '');
  });
});

test('content after the end of the page can be replaced and removed', () => {
  const document = parseTree('<html></html><p>a</p>b');
  const paragraph = document.querySelector('p');
  assert.ok(paragraph);
  document.replaceChild(document.createTextNode('c'), paragraph);
  assert.equal(document.lastChild?.previousSibling?.textContent, 'c');
  document.lastChild?.remove();
  assert.equal(document.lastChild?.textContent, 'c');
});

test('the title is that of the head', () => {
  const html = '<html><head><title>a &amp; b</title></head><body><title>c</title></body></html>';
  assert.equal(parseTree(html).title, 'a & b');
});

describe('the attributes of an element', () => {
  const first = (html: string): TreeElement => {
    const element = bodyOf(html).firstElementChild;
    assert.ok(element);
    return element;
  };

  test('names of classes come once each, with one blank between', () => {
    const element = first('<p class=" a\n b  a ">');
    assert.equal(element.className, 'a b');
    element.className = 'c  c d';
    assert.equal(element.getAttribute('class'), 'c d');
  });

  test('inherited object properties are not attributes', () => {
    const element = first('<p>');
    assert.equal(element.getAttribute('constructor'), null);
    assert.equal(element.hasAttribute('toString'), false);
    assert.equal(first('<p constructor=x>').getAttribute('constructor'), 'x');
  });

  test('an attribute can be set, copied and removed', () => {
    const element = first('<p hidden id=a>');
    assert.equal(element.getAttribute('hidden'), '');
    const copy = parseTree('').createElement('DIV');
    for (const attribute of element.attributes) copy.setAttributeNode(attribute.cloneNode());
    element.removeAttribute('hidden');
    element.removeAttribute('hidden');
    element.id = 'b';
    assert.deepEqual(
      element.attributes.map(({ name, value }) => [name, value]),
      [['id', 'b']],
    );
    assert.deepEqual([copy.hasAttribute('hidden'), copy.id], [true, 'a']);
  });

  test('the style gives its visibility, and the last rule wins', () => {
    const style = 'color: red; display:block; display : none ;visibility:hidden; x';
    assert.deepEqual(
      { ...first(`<p style="${style}">`).style },
      {
        display: 'none',
        visibility: 'hidden',
      },
    );
    assert.equal(first('<p>').style.display, '');
  });
});

describe('elements are found', () => {
  const page = `<div><p class=a>1</p><a href="#x">2</a><input type=PASSWORD>
    <ul><li>3<p id=b>4</p></ul></div><p>5</p>`;
  const found: readonly (readonly [selector: string, texts: readonly string[]])[] = [
    ['p', ['1', '4', '5']],
    ['P', ['1', '4', '5']],
    ['a,li', ['2', '34']],
    ['a , p', ['1', '2', '4', '5']],
    ['h1', []],
    ['[href]', ['2']],
    ['p[id]', ['4']],
    ['p[class=a]', ['1']],
    ['p[class="a"], a[href="#x"]', ['1', '2']],
    ['p[class="A"]', []],
    ['input[type="password"]', ['']],
  ];
  for (const [selector, texts] of found) {
    test(`by ${selector}`, () => {
      const body = bodyOf(page);
      const elements = body.querySelectorAll(selector);
      assert.deepEqual(
        elements.map(({ textContent }) => textContent),
        texts,
      );
      assert.equal(body.querySelector(selector), elements[0] ?? null);
    });
  }

  test('inside an element, not the element itself or what follows it', () => {
    const list = bodyOf(page).querySelector('ul');
    assert.deepEqual(
      list?.getElementsByTagName('p').map(({ id }) => id),
      ['b'],
    );
    assert.deepEqual(list?.querySelectorAll('ul'), []);
  });

  const refused = ['div p', 'p:first-child', '.a', '#b', '*', 'p > a', 'p[id^=x]', 'p[a][b]', ''];
  for (const selector of refused) {
    test(`by no selector such as "${selector}", which is refused`, () => {
      assert.throws(() => bodyOf(page).querySelectorAll(selector), /selector/);
    });
  }

  test('by no name that is a pattern', () => {
    assert.throws(() => bodyOf(page).getElementsByTagName('*'), /no element/);
  });
});

test('randomly moved nodes are where they were put, as in a list', () => {
  const seed = randomInt(2 ** 31);
  let state = seed;
  const chance = (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state % below;
  };
  const body = bodyOf('<i></i>a<b></b>b<u></u>');
  const [from, to] = [body, parseTree('').createElement('div')];
  const lists = new Map<TreeElement, TreeNode[]>([
    [from, from.childNodes],
    [to, []],
  ]);
  for (let turn = 0; turn < 2000; turn += 1) {
    const parent = chance(2) === 0 ? from : to;
    const all = [...lists.values()].flat();
    const node = all[chance(all.length)];
    assert.ok(node);
    const list = lists.get(parent) ?? [];
    const replaced = list[chance(Math.max(1, list.length))];
    const isReplacing = chance(3) === 0 && all.length > 3 && replaced && replaced !== node;
    for (const other of lists.values())
      if (other.includes(node)) other.splice(other.indexOf(node), 1);
    if (isReplacing) {
      parent.replaceChild(node, replaced);
      list.splice(list.indexOf(replaced), 1, node);
      parent.appendChild(replaced);
      list.push(replaced);
    } else {
      parent.appendChild(node);
      list.push(node);
    }
    for (const [element, expected] of lists) assertChildren(element, expected, `seed ${seed}`);
  }
});

function assertChildren(parent: TreeElement, expected: readonly TreeNode[], note: string): void {
  const backwards: TreeNode[] = [];
  for (let node = parent.lastChild; node; node = node.previousSibling) backwards.unshift(node);
  const places = (nodes: readonly TreeNode[]) => nodes.map((node) => expected.indexOf(node));
  const inOrder = expected.map((_node, index) => index);
  assert.deepEqual(places(parent.childNodes), inOrder, note);
  assert.deepEqual(places(backwards), inOrder, note);
  assert.ok(
    expected.every(({ parentNode }) => parentNode === parent),
    note,
  );
}
