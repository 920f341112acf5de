import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { requestPortal, toFileForm } from '../../../tests/support/portal.ts';
import { createZip } from '../../../tests/support/zip.ts';

const lines: string[] = [];

const files = {
  'assets/logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h1v1z"/></svg>',
  'assets/css/site.css': 'main { outline: 1px solid red }',
  'layouts/whole.html':
    '<!doctype html><html><head><title>{{.Title}} at {{.Site.Name}}</title>' +
    '{{range .Site.Styles}}<link rel="stylesheet" href="{{.}}">{{end}}</head><body>{{template "top" .}}{{yield}}</body></html>',
  'partials/top.html': '<header>{{asset "logo.svg"}}{{.Blocks.Intro}}</header>',
  'views/plain.html': '<section class="promo"><h1>{{.Title}}</h1>{{content}}</section>',
  'views/endless.html': '{{range until 100000}}{{range until 100000}}x{{end}}{{end}}',
};
const templates = [
  { name: 'inner', template: 'plain' },
  { name: 'whole', template: 'plain', layout: 'whole' },
  { name: 'endless', template: 'endless' },
];

onEveryEngine(
  'theme of the portal site',
  app => {
    const ok = (method: string, path: string, body?: unknown, status = 200) =>
      requestPortal(app(), method, `/portal-api${path}`, body, status);
    const read = async (path: string) => {
      const response = await fetch(app().url.portal + path, { headers: { accept: 'text/html' } });
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    const upload = async (manifest: object) => {
      const theme = { name: 'acme', version: '1', logo: 'assets/logo.svg', styles: ['assets/css/site.css'], templates };
      const all = { ...files, 'theme.json': JSON.stringify({ ...theme, ...manifest }) };
      const archive = createZip(Object.entries(all).map(([name, content]) => ({ name, content })));
      const form = toFileForm(new Uint8Array(archive), 't.zip');
      const answer = await app().ask('POST', '/portal-api/themes/upload', { body: form });
      assert.equal(answer.status, 200, answer.text);
    };
    const addPage = async (Template: string, intro = 'Hello <b>') => {
      const Path = `/${createPublicId()}`;
      const { ID } = await ok('POST', '/pages', { Title: 'Offer', Path, Template, Status: 'Published' });
      await ok('POST', `/pages/${ID}/content-blocks`, { Name: 'Intro', Content: `<p>${intro}</p>` });
      return Path;
    };

    test('the active theme changes title, logo, colours and styles; the default one restores them', async () => {
      const before = (await read('/')).text;
      const [colours, dark_colours] = [{ accent: '#0a7c5c', background: '#fafafa' }, { background: '#101010' }];
      await upload({ title: 'Acme & friends', colours, dark_colours });
      assert.doesNotMatch((await read('/')).text, /Acme/);
      await ok('PUT', '/themes/acme/activate');
      const { text } = await read('/');
      assert.match(text, /<title>Acme &amp; friends<\/title>/);
      assert.match(text, /Build with Acme &amp; friends/);
      const addresses = [...text.matchAll(/(?:href|src)="(\/(?:assets\/theme|site\/colours)[^"]+)"/g)].map(
        it => it[1]!,
      );
      assert.equal(addresses.length, 3);
      const found = await Promise.all(addresses.map(read));
      for (const { status, headers } of found) {
        assert.equal(status, 200);
        assert.match(headers.get('cache-control')!, /immutable/);
      }
      const sheet = found.find((_, place) => addresses[place]!.includes('colours'))!.text;
      assert.match(sheet, /--page:light-dark\(#fafafa,#101010\)/);
      assert.match(sheet, /--accent:light-dark\(oklch\(from #0a7c5c /);
      const logo = found.find((_, place) => addresses[place]!.endsWith('.svg'))!;
      assert.match(logo.headers.get('content-security-policy')!, /default-src 'none'.*sandbox/);
      await upload({ title: 'Second' });
      const next = (await read('/')).text;
      assert.match(next, /<title>Second<\/title>/);
      for (const address of addresses) assert.ok(!next.includes(address), address);
      await ok('PUT', '/themes/default/activate');
      assert.equal((await read('/')).text, before);
      for (const address of addresses) assert.equal((await read(address)).status, 404);
    });

    test('a template of the theme is the content of a page, or its whole document, and escapes its data', async () => {
      await upload({ title: 'Acme' });
      await ok('PUT', '/themes/acme/activate');
      const inner = await read(await addPage('inner'));
      assert.match(inner.text, /<main [^>]*><section class="promo"><h1>Offer<\/h1><article class="prose">/);
      const whole = await read(await addPage('whole'));
      assert.match(
        whole.text,
        /^<!doctype html><html><head><title>Offer at Acme<\/title><link rel="stylesheet" href="\/a/,
      );
      assert.match(whole.text, /<header>\/assets\/theme\/[\w-]+\/logo\.svg&lt;p&gt;Hello &lt;b&gt;/);
      assert.match(whole.headers.get('content-security-policy')!, /script-src 'self'/);
      assert.equal(whole.headers.get('x-robots-tag'), 'noindex');
    });

    test('a template that fails leaves the page of the product, and is logged', async () => {
      const { status, text } = await read(await addPage('endless', 'Shown anyway'));
      assert.equal(status, 200);
      assert.match(text, /<h1>Offer<\/h1><p>Shown anyway<\/p>/);
      assert.ok(lines.some(line => line.includes('template of the theme failed') && line.includes('endless')));
    });

    test('files of a theme other than its assets are not served', async () => {
      for (const path of ['x/../theme.json', 'x/..%2Ftheme.json', 'x/..%2Fviews%2Fplain.html', 'x', 'x/none.css', ''])
        assert.equal((await read(`/assets/theme/${path}`)).status, 404, path);
      const old = await read('/assets/theme/x/css/site.css');
      assert.equal(old.status, 200);
      assert.equal(old.headers.get('cache-control'), 'no-store');
    });
  },
  { onLog: line => void lines.push(line) },
);
