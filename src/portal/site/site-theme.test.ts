import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { requestPortal, toFileForm } from '../../../tests/support/portal.ts';
import { addSiteDeveloper } from '../../../tests/support/portal-site.ts';
import { signedInClient } from '../../../tests/support/site-client.ts';
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
    const upload = async (manifest: object, more: Record<string, string> = {}) => {
      const theme = { name: 'acme', version: '1', logo: 'assets/logo.svg', styles: ['assets/css/site.css'], templates };
      const all = { ...files, ...more, 'theme.json': JSON.stringify({ ...theme, ...manifest }) };
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

    test('a theme is previewed by one administrator, with its files, until the preview is ended', async () => {
      const look = { title: 'Only a draft', colours: { accent: '#aa0000' }, logo: 'assets/own.svg' };
      const own = { 'assets/own.svg': files['assets/logo.svg'], 'assets/own.css': 'main { color: teal }' };
      await upload({ name: 'draft', ...look, styles: ['assets/own.css'] }, own);
      const admin = await signedInClient(app(), await addSiteDeveloper(app(), { Role: 'provider-admin' }));
      const started = await admin.post('/portal/private/theme-preview', { theme: 'draft' });
      assert.deepEqual([started.status, started.location], [303, '/']);
      assert.match(started.headers.get('set-cookie')!, /^portal-theme-preview=draft;.*HttpOnly; SameSite=Strict/);
      const { text } = await admin.get('/');
      assert.match(text, /<title>Only a draft<\/title>/);
      assert.match(text, /Preview of the theme draft: only you see it/);
      const addresses = [...text.matchAll(/(?:href|src)="(\/(?:assets\/theme|site\/colours)[^"]+)"/g)].map(
        it => it[1]!,
      );
      assert.equal(addresses.length, 3);
      for (const address of addresses) {
        const file = await admin.get(address);
        assert.deepEqual([file.status, file.headers.get('cache-control')], [200, 'no-store'], address);
        assert.equal((await read(address)).status, 404, address);
      }
      const cookie = { headers: { accept: 'text/html', cookie: 'portal-theme-preview=draft' } };
      assert.doesNotMatch(await (await fetch(app().url.portal, cookie)).text(), /Only a draft/);
      assert.doesNotMatch((await read('/')).text, /Only a draft/);
      await admin.post('/portal/private/theme-preview', {});
      assert.doesNotMatch((await admin.get('/')).text, /Only a draft|only you see it/);
    });

    test('developers cannot preview a theme, unknown names are not found, and a deleted one ends its preview', async () => {
      const developer = await signedInClient(app(), await addSiteDeveloper(app()));
      assert.equal((await developer.post('/portal/private/theme-preview', { theme: 'draft' })).status, 404);
      const admin = await signedInClient(app(), await addSiteDeveloper(app(), { Role: 'provider-admin' }));
      assert.equal((await admin.post('/portal/private/theme-preview', { theme: 'none' })).status, 404);
      const forged = { theme: 'draft', csrf_token: 'x' };
      assert.equal((await admin.post('/portal/private/theme-preview', forged)).status, 403);
      await admin.post('/portal/private/theme-preview', { theme: 'draft' });
      await ok('DELETE', '/themes/draft');
      const { status, text } = await admin.get('/');
      assert.deepEqual([status, /Only a draft/.test(text)], [200, false]);
    });

    test('a template that fails is reported to administrators, and to no other visitor', async () => {
      await upload({ title: 'Acme' });
      await ok('PUT', '/themes/acme/activate');
      const path = await addPage('endless', 'Shown anyway');
      const admin = await signedInClient(app(), await addSiteDeveloper(app(), { Role: 'provider-admin' }));
      const { text } = await admin.get(path);
      assert.match(text, /The theme acme failed at the template endless: [^<]+ The default page is shown\./);
      assert.match(text, /Shown anyway/);
      assert.doesNotMatch((await read(path)).text, /failed at the template/);
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
