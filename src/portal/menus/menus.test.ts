import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addProduct, requestPortal } from '../../../tests/support/portal.ts';
import { addSiteDeveloper } from '../../../tests/support/portal-site.ts';
import { createSiteClient, signedInClient } from '../../../tests/support/site-client.ts';

const navigationOf = (text: string, name: string) =>
  new RegExp(`<nav aria-label="${name}">(.*?)</nav>`, 's').exec(text)![1]!;

onEveryEngine('menus of the portal', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api/menus${path}`, body === undefined ? {} : { body });
  const ok = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api/menus${path}`, body, status);
  const create = (more: object = {}) => ok('POST', '', { Name: 'Header', Path: createPublicId(), ...more }, 201);
  const portal = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);
  /** Puts links into a menu of the site for one test. */
  const show = async (Path: 'Primary' | 'Footer', Items: readonly object[]) => {
    for (const menu of await ok('GET', '')) if (menu.Path === Path) await ok('DELETE', `/${menu.ID}`);
    return create({ Path, Items });
  };
  test('a menu keeps its items in two levels, is found by number and persistent id, and is replaced as a whole', async () => {
    const Items = [
      { Title: 'APIs', Children: [{ Title: 'All', Path: '/portal/catalogue-products', VisibleTo: 'signed-in' }] },
      { Title: 'Support', Path: 'mailto:help@example.org' },
    ];
    const menu = await create({ Items });
    assert.deepEqual(menu.Items, [
      {
        Title: 'APIs',
        Path: '',
        VisibleTo: 'all',
        State: 'shown',
        Children: [{ Title: 'All', Path: '/portal/catalogue-products', VisibleTo: 'signed-in', State: 'shown' }],
      },
      { Title: 'Support', Path: 'mailto:help@example.org', VisibleTo: 'all', State: 'shown', Children: [] },
    ]);
    for (const id of [menu.ID, menu.CID]) assert.deepEqual(await ok('GET', `/${id}`), menu);
    assert.deepEqual((await ok('GET', '?limit=1'))[0], menu);
    const changed = await ok('PUT', `/${menu.ID}`, { ...menu, Items: [{ Title: 'Blog', Path: '/blog' }] });
    assert.deepEqual([changed.Name, changed.Items.length, changed.Items[0].Title], ['Header', 1, 'Blog']);
    assert.equal((await ok('PUT', `/${menu.ID}`, { Name: 'Top' })).Items.length, 1);
    assert.deepEqual(await ok('DELETE', `/${menu.ID}`), { status: 'ok' });
    for (const method of ['GET', 'DELETE']) assert.equal((await ask(method, `/${menu.ID}`)).status, 404);
    assert.equal((await ask('PUT', `/${menu.ID}`, { Name: 'x' })).status, 422);
  });

  test('addresses that run code or lead to another host by a trick, a third level and repeated places are refused', async () => {
    const menu = await create();
    const unsafe = 'must be a path such as /blog, or an http, https or mailto address';
    for (const Path of [
      'javascript:alert(1)',
      'data:text/html,x',
      '//example.org',
      '/\\example.org',
      '/a b',
      '/a/../admin',
      'https://user:secret@example.org/',
      'blog',
      '\tjavascript:alert(1)',
    ]) {
      const { status, body } = await ask('PUT', `/${menu.ID}`, { Items: [{ Title: 'T', Path }] });
      assert.equal(status, 422, Path);
      assert.ok(body.errors[0].includes(unsafe), `${Path}: ${body.errors}`);
    }
    const child = { Title: 'T', Path: '/blog' };
    for (const Items of [
      [{ Title: 'T' }],
      [{ Title: '', Path: '/blog' }],
      [{ ...child, VisibleTo: 'me' }],
      [{ Title: 'T', Children: [{ ...child, Children: [child] }] }],
      [{ ...child, Titel: 'x' }],
      Array.from({ length: 21 }, () => child),
    ])
      assert.equal((await ask('PUT', `/${menu.ID}`, { Items })).status, 422, JSON.stringify(Items).slice(0, 80));
    const repeated = await ask('POST', '', { Name: 'Other', Path: menu.Path });
    assert.deepEqual([repeated.status, repeated.body.errors], [422, ['A menu with this Path or CID already exists']]);
    const other = await create();
    assert.equal((await ask('PUT', `/${other.ID}`, { Path: menu.Path })).status, 422);
    assert.deepEqual(await ok('GET', `/${menu.ID}`), menu);
  });

  test('there are at most 20 menus', async () => {
    let refused: string[] | undefined;
    for (let count = 0; count < 21 && !refused; count++) {
      const { status, body } = await ask('POST', '', { Name: 'More', Path: createPublicId() });
      if (status === 422) refused = body.errors;
    }
    assert.deepEqual(refused, ['There are 20 menus, the maximum']);
    for (const { ID } of await ok('GET', '')) await ok('DELETE', `/${ID}`);
  });

  test('the header shows Primary and the footer Footer, with the second level, in place of the links of the site', async () => {
    const before = (await createSiteClient(app()).get('/')).text;
    assert.match(navigationOf(before, 'Site'), /href="\/blog"/);
    await show('Primary', [
      { Title: 'Find <APIs>', Path: '/portal/catalogue-products', Children: [{ Title: 'News', Path: '/blog?page=1' }] },
      { Title: 'Status', Path: 'https://status.example.org/' },
    ]);
    await show('Footer', [{ Title: 'Company', Children: [{ Title: 'Mail us', Path: 'mailto:help@example.org' }] }]);
    const { text } = await createSiteClient(app()).get('/');
    const header = navigationOf(text, 'Site');
    assert.match(
      header,
      /<summary>Find &lt;APIs&gt;<\/summary>.*href="\/portal\/catalogue-products".*href="\/blog\?page=1"/s,
    );
    assert.match(header, /href="https:\/\/status\.example\.org\/"/);
    assert.equal(header.match(/href=/g)!.length, 3);
    const footer = navigationOf(text, 'Footer');
    assert.match(footer, /<span>Company<\/span>.*href="mailto:help@example\.org"/s);
    assert.doesNotMatch(footer, /feed\.xml/);
    for (const { ID } of await ok('GET', '')) await ok('DELETE', `/${ID}`);
    assert.equal((await createSiteClient(app()).get('/')).text, before);
  });

  test('links to drafts, to products that are not offered to a visitor, and for other visitors are left out', async () => {
    const name = createPublicId();
    const page = { Title: 'Draft', Path: `/draft-${name}`, Template: 'page', Status: 'Draft' };
    await portal('POST', '/pages', page);
    const open = await addProduct(app(), { Catalogues: [1] });
    const closed = await addProduct(app(), { Catalogues: [2] });
    const post = { Title: 'P', Content: 'c', Status: 'review', Path: name };
    await portal('POST', '/posts', post, 201);
    const day = new Date().toISOString().slice(0, 10).replaceAll('-', '/');
    const links = {
      draft: page.Path,
      missing: `/none-${name}`,
      open: `/portal/catalogue-products/${open.Path}`,
      closed: `/portal/catalogue-products/${closed.Path}`,
      post: `/blog/${day}/${name}`,
    };
    const menu = await show('Primary', [
      ...Object.entries(links).map(([Title, Path]) => ({ Title, Path })),
      { Title: 'member', Path: '/portal/private/apps', VisibleTo: 'signed-in' },
      { Title: 'owner', Path: '/admin', VisibleTo: 'admins' },
      { Title: 'group', Children: [{ Title: 'inner', Path: page.Path }] },
    ]);
    assert.deepEqual(
      menu.Items.map(({ State }: { State: string }) => State),
      ['hidden', 'missing', 'shown', 'hidden', 'hidden', 'shown', 'shown', 'shown'],
    );
    const titles = async (client: { get(path: string): Promise<{ text: string }> }) =>
      Array.from(navigationOf((await client.get('/')).text, 'Site').matchAll(/>(\w+)<\/(?:a|summary)>/g), it => it[1]);
    assert.deepEqual(await titles(createSiteClient(app())), ['open']);
    const developer = await signedInClient(app(), await addSiteDeveloper(app()));
    assert.deepEqual(await titles(developer), ['open', 'closed', 'member']);
    const admin = await signedInClient(app(), await addSiteDeveloper(app(), { Role: 'provider-admin' }));
    assert.deepEqual(await titles(admin), ['draft', 'open', 'closed', 'member', 'owner', 'group', 'inner']);
  });

  test('a page at a path of the portal itself is refused with the reason, in any case of letters', async () => {
    for (const Path of [
      '/blog',
      '/Blog/news',
      '/portal/catalogue-products',
      '/admin',
      '/robots.txt',
      '/live',
      '/sso',
    ]) {
      const page = { Title: 'T', Path, Template: 'page' };
      const { status, body } = await app().ask('POST', '/portal-api/pages', { body: page });
      const reason = `Path: ${Path} is a path of the portal itself, whose page would be shown instead: choose another one`;
      assert.deepEqual([status, body.errors], [422, [reason]]);
    }
    const { ID } = await portal('POST', '/pages', { Title: 'T', Path: `/${createPublicId()}`, Template: 'page' });
    assert.equal((await app().ask('PUT', `/portal-api/pages/${ID}`, { body: { Path: '/search' } })).status, 422);
    assert.equal((await app().ask('PUT', `/portal-api/pages/${ID}`, { body: { Path: '/blogs' } })).status, 200);
  });
});
