import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { openZip } from '#base/zip.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { requestPortal, toFileForm } from '../../../tests/support/portal.ts';
import { createZip } from '../../../tests/support/zip.ts';
import { createPortalFileStore } from '../files/store.ts';
import { createThemeReader } from './active-theme.ts';
import { createThemeStore } from './store.ts';

type Files = Record<string, string>;

const home = [{ name: 'home', template: 'home', layout: 'main' }];
const pages: Files = {
  'layouts/main.html': '<body>{{template "nav" .}}{{yield}}</body>',
  'views/home.html': '<h1>{{.Title}}</h1><img src="{{asset "logo.svg"}}">{{content}}',
  'partials/nav.html': '<nav>{{.Title}}</nav>',
  'assets/logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h1v1z" fill="url(#a)"/></svg>',
  'assets/site.css': 'body { color: red; background: url(logo.svg) }',
};
const manifest = (name: string, more: object = {}) => JSON.stringify({ name, version: '1.0', ...more });
const toArchive = (files: Files) => createZip(Object.entries(files).map(([name, content]) => ({ name, content })));

onEveryEngine('themes', app => {
  const upload = (bytes: Buffer) =>
    app().ask('POST', '/portal-api/themes/upload', { body: toFileForm(new Uint8Array(bytes), 't.zip') });
  const ok = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api/themes${path}`, body, status);
  const create = async (files: Files = {}, more: object = { templates: home }) => {
    const name = `theme-${createPublicId()}`;
    const bytes = toArchive({ 'theme.json': manifest(name, more), ...pages, ...files });
    const answer = await upload(bytes);
    assert.deepEqual([answer.status, answer.text], [200, 'File uploaded successfully']);
    return { name, bytes };
  };
  const readTheme = () => {
    const { records } = app().application.installation;
    const portal = { themes: createThemeStore(records, createPortalFileStore(records)) };
    return createThemeReader({ portal, log: { error: () => assert.fail('unusable') } })();
  };

  test('an uploaded theme is listed, downloaded as it was, activated and deleted when another is active', async () => {
    const { name, bytes } = await create();
    const theme = { ID: name, Name: name, Author: '', Version: '1.0', Path: `/portal-api/themes/${name}/download` };
    assert.deepEqual(await ok('GET', `/${name}`), { ...theme, Status: 'Not in use' });
    const response = await fetch(`${app().url.portal}${theme.Path}`, {
      headers: { authorization: app().credentials.portal_token },
    });
    assert.equal(response.headers.get('content-type'), 'application/zip');
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes);
    const message = 'Action activate: Executed successfully';
    assert.deepEqual(await ok('PUT', `/${name}/activate`), { status: 'ok', message });
    const current = (await ok('GET', '')).filter((it: { Status: string }) => it.Status === 'Current');
    assert.deepEqual(current, [{ ...theme, Status: 'Current' }]);
    await ok('DELETE', `/${name}`, undefined, 422);
    await ok('PUT', '/default/activate');
    assert.deepEqual((await ok('GET', '/default')).Status, 'Current');
    await ok('DELETE', `/${name}`);
    for (const path of [`/${name}`, `/${name}/download`]) await ok('GET', path, undefined, 404);
    await ok('DELETE', `/${name}`, undefined, 404);
    await ok('PUT', `/${name}/activate`, undefined, 422);
  });

  test('the default theme cannot be replaced or deleted, and its download is a theme to start from', async () => {
    const refused = await upload(toArchive({ 'theme.json': manifest('Default') }));
    assert.equal(refused.status, 400);
    assert.match(refused.body.errors[0], /default theme cannot be replaced/);
    await ok('DELETE', '/default', undefined, 422);
    const response = await fetch(`${app().url.portal}/portal-api/themes/default/download`, {
      headers: { authorization: app().credentials.portal_token },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    assert.ok(openZip(bytes, { maxFiles: 10, maxTotalBytes: 10_000 }).names.includes('theme.json'));
    assert.equal((await upload(bytes)).status, 200);
    await ok('DELETE', '/my-theme');
  });

  test('a template renders with layout and partials, escapes its data, and gets no other data', async () => {
    const { name } = await create();
    const body = { Template: 'home', Data: { Title: '<b>&' }, Content: '<p>in</p>' };
    assert.match(
      (await ok('POST', `/${name}/preview`, body)).HTML,
      /^<body><nav>&lt;b&gt;&amp;<\/nav><h1>&lt;b&gt;&amp;<\/h1><img src="\/assets\/theme\/[\w-]+\/logo\.svg"><p>in<\/p><\/body>$/,
    );
    const probe = '{{printf "%v" .}}{{.constructor}}{{.__proto__}}';
    const { name: curious } = await create({ 'views/home.html': probe });
    const { HTML } = await ok('POST', `/${curious}/preview`, { Template: 'home', Data: {} });
    assert.ok(!/function|Object|process/.test(HTML), HTML);
    await ok('POST', `/${name}/preview`, { Template: 'hom' }, 422);
    await ok('POST', `/missing/preview`, { Template: 'home' }, 422);
  });

  test('a template that loops, or repeats the content, fails within its budget', async () => {
    const loop = '{{range $i := until 100000}}{{range $j := until 100000}}x{{end}}{{end}}';
    for (const view of [
      loop,
      '{{range until 1000}}{{content}}{{end}}',
      '{{define "a"}}{{template "a"}}{{end}}{{template "a"}}',
    ]) {
      const { name } = await create({ 'views/home.html': view });
      const answer = await app().ask('POST', `/portal-api/themes/${name}/preview`, {
        body: { Template: 'home', Content: 'x'.repeat(10_000) },
      });
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.body.errors[0], /The template cannot be rendered/);
      await ok('DELETE', `/${name}`);
    }
  });

  test('the reader of the site gets the settings, templates and assets of the active theme', async () => {
    const more = {
      title: 'Acme',
      colours: { accent: '#0a7c5c' },
      logo: 'assets/logo.svg',
      styles: ['assets/site.css'],
    };
    const { name } = await create({}, { templates: home, ...more });
    await ok('PUT', `/${name}/activate`);
    const theme = await readTheme();
    assert.deepEqual(
      [theme.name, theme.title, theme.colours, theme.logo, theme.styles],
      [
        name,
        'Acme',
        { accent: '#0a7c5c' },
        `/assets/theme/${theme.stamp}/logo.svg`,
        [`/assets/theme/${theme.stamp}/site.css`],
      ],
    );
    assert.equal(theme.readAsset('site.css')?.mediaType, 'text/css; charset=utf-8');
    for (const path of ['../theme.json', '../views/home.html', 'none.css'])
      assert.equal(theme.readAsset(path), undefined);
    assert.match(theme.templates.get('home')!({ Title: 'T' }, 'in'), /<h1>T<\/h1>/);
    await upload(toArchive({ 'theme.json': manifest(name, { title: 'Next' }) }));
    assert.equal((await readTheme()).title, 'Next');
    await ok('PUT', '/default/activate');
    assert.deepEqual([(await readTheme()).name, (await readTheme()).colours], ['default', {}]);
  });

  test('pages use templates of the active theme, which then cannot lose them', async () => {
    const { name } = await create({ 'views/promo.html': 'p' }, { templates: [{ name: 'promo', template: 'promo' }] });
    const page = { Title: 'P', Path: `/${createPublicId()}`, Template: 'promo' };
    await requestPortal(app(), 'POST', '/portal-api/pages', page, 422);
    await ok('PUT', `/${name}/activate`);
    const { ID } = await requestPortal(app(), 'POST', '/portal-api/pages', page);
    const refusal = await app().ask('PUT', '/portal-api/themes/default/activate');
    assert.equal(refusal.status, 422);
    assert.match(refusal.body.errors[0], /promo/);
    const replaced = await upload(toArchive({ 'theme.json': manifest(name) }));
    assert.equal(replaced.status, 422, replaced.text);
    assert.ok((await readTheme()).templates.has('promo'));
    await requestPortal(app(), 'DELETE', `/portal-api/pages/${ID}`);
    await ok('PUT', '/default/activate');
  });

  test('files that are no archives, and archives that inflate beyond the maximum, are refused', async () => {
    assert.equal((await upload(Buffer.from('no archive'))).status, 400);
    const bomb = createZip([
      { name: 'theme.json', content: manifest('bomb') },
      { name: 'assets/a.css', content: ' '.repeat(33 * 1024 * 1024) },
    ]);
    assert.equal((await upload(bomb)).status, 413);
    await ok('GET', '/bomb', undefined, 404);
  });

  test('of concurrent activations one theme is active', async () => {
    const names = [(await create()).name, (await create()).name, (await create()).name];
    await Promise.all(names.map(name => ok('PUT', `/${name}/activate`)));
    const current = (await ok('GET', '')).filter((it: { Status: string }) => it.Status === 'Current');
    assert.equal(current.length, 1);
    await ok('PUT', '/default/activate');
  });

  test('themes beyond the maximum are refused, and replacement is not', async () => {
    const { name } = await create();
    for (let count = (await ok('GET', '')).length; count <= 20; count++) await create();
    const refused = await upload(toArchive({ 'theme.json': manifest(`more-${createPublicId()}`) }));
    assert.equal(refused.status, 422);
    assert.match(refused.body.errors[0], /20 themes, the maximum/);
    assert.equal((await upload(toArchive({ 'theme.json': manifest(name.toUpperCase()) }))).status, 200);
    for (const { ID } of await ok('GET', '')) if (ID !== 'default') await ok('DELETE', `/${ID}`);
  });
});
