import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { portalTimePattern, requestPortal } from '../../../tests/support/portal.ts';

onEveryEngine('pages of the portal', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api/pages${path}`, body === undefined ? {} : { body });
  const ok = (method: string, path: string, body?: unknown) =>
    requestPortal(app(), method, `/portal-api/pages${path}`, body);
  const create = (more: object = {}) =>
    ok('POST', '', { Title: 'Support', Path: `/${createPublicId()}`, Template: 'page', ...more });

  test('a new page is a draft with every member, found by number and persistent id', async () => {
    const page = await create({ Path: '/support/plans' });
    const { ID, CID, CreatedAt, UpdatedAt, ...rest } = page;
    for (const time of [CreatedAt, UpdatedAt]) assert.match(time, portalTimePattern);
    assert.deepEqual(rest, {
      Title: 'Support',
      Path: '/support/plans',
      Template: 'page',
      Status: 'Draft',
      AllowFormSubmission: false,
      PageTypeID: 0,
    });
    for (const id of [ID, CID]) assert.deepEqual(await ok('GET', `/${id}`), page);
    assert.deepEqual((await ok('GET', '?limit=1'))[0], page);
    const published = await ok('PUT', `/${ID}`, { ...page, Status: 'Published' });
    assert.deepEqual([published.Status, published.Title], ['Published', 'Support']);
    assert.deepEqual(await ok('DELETE', `/${ID}`), { status: 'ok' });
    for (const method of ['GET', 'DELETE']) assert.equal((await ask(method, `/${ID}`)).status, 404);
    assert.equal((await ask('PUT', `/${ID}`, { Title: 'x' })).status, 422);
  });

  test('templates outside the theme, paths that lead elsewhere and repeated paths are refused', async () => {
    const page = await create();
    const path = 'Path: must begin with / and not contain spaces, ?, #, % or \\';
    for (const [change, message] of [
      [{ Template: 'pag' }, 'Template: the theme has no template pag; did you mean page?'],
      [{ Path: 'support' }, path],
      [{ Path: '/a?b' }, path],
      [{ Path: '/a/../admin' }, 'Path: must not contain . or ..'],
      [{ Path: '/about/' }, 'Path: must not end with /'],
      [{ Path: '//example.org' }, 'Path: must not contain //'],
      [{ Path: page.Path }, 'A page with this Path or CID already exists'],
      [{ AllowFormSubmission: 'true' }, 'AllowFormSubmission: must be false: the portal has no forms'],
      [{ Titel: 'x' }, 'Titel: no such member; did you mean Title?'],
    ] as const) {
      const created = await ask('POST', '', { Title: 'T', Path: `/${createPublicId()}`, Template: 'page', ...change });
      assert.deepEqual([created.status, created.body.errors], [422, [message]]);
    }
    const other = await create();
    assert.equal((await ask('PUT', `/${other.ID}`, { Path: page.Path })).status, 422);
    assert.equal((await ask('PUT', `/${other.ID}`, { Template: 'none' })).status, 422);
    const { Forms } = (await requestPortal(app(), 'GET', '/portal-api/configs'))[0];
    const withForms = await ask('PUT', `/${other.ID}`, { AllowFormSubmission: true });
    assert.deepEqual([Forms, withForms.status], [{ Enable: false }, 422]);
    assert.deepEqual(await ok('GET', `/${other.ID}`), other);
  });

  test('content blocks belong to one page, with names unique in it', async () => {
    const [one, two] = [await create(), await create()];
    const block = await ok('POST', `/${one.ID}/content-blocks`, { Name: 'intro', Content: '<b>Hi</b>' });
    const { ID, CID, CreatedAt, UpdatedAt, ...rest } = block;
    for (const time of [CreatedAt, UpdatedAt]) assert.match(time, portalTimePattern);
    assert.deepEqual(rest, {
      PageID: one.ID,
      Name: 'intro',
      Content: '<b>Hi</b>',
      MarkdownEnabled: false,
      MarkdownContent: '',
    });
    for (const id of [ID, CID]) assert.deepEqual(await ok('GET', `/${one.CID}/content-blocks/${id}`), block);
    const taken = await ask('POST', `/${one.ID}/content-blocks`, { Name: 'intro' });
    assert.deepEqual(
      [taken.status, taken.body.errors],
      [422, ['A block of the page with this Name, or one with this CID, already exists']],
    );
    const second = await ok('POST', `/${two.ID}/content-blocks`, { Name: 'intro' });
    assert.deepEqual(await ok('GET', `/${one.ID}/content-blocks`), [block]);
    assert.deepEqual(await ok('GET', '/all/content-blocks?limit=2'), [second, block]);
    const changed = await ok('PUT', `/${one.ID}/content-blocks/${ID}`, {
      MarkdownEnabled: true,
      MarkdownContent: '# Hi',
    });
    assert.deepEqual([changed.MarkdownContent, changed.Content], ['# Hi', '<b>Hi</b>']);
    const third = await ok('POST', `/${one.ID}/content-blocks`, { Name: 'end' });
    assert.equal((await ask('PUT', `/${one.ID}/content-blocks/${third.ID}`, { Name: 'intro' })).status, 422);
    for (const [method, status] of [
      ['GET', 404],
      ['PUT', 422],
      ['DELETE', 404],
    ] as const)
      assert.equal(
        (await ask(method, `/${two.ID}/content-blocks/${ID}`, method === 'PUT' ? {} : undefined)).status,
        status,
      );
    assert.equal((await ask('GET', '/99999/content-blocks')).status, 404);
    assert.equal((await ask('POST', '/99999/content-blocks', { Name: 'x' })).status, 422);
    assert.deepEqual(await ok('DELETE', `/${one.ID}/content-blocks/${third.ID}`), { status: 'ok' });
    await ok('DELETE', `/${one.ID}`);
    const { pages } = app().application.installation.services.portal;
    assert.equal(await pages.blocks.get(ID), undefined);
  });

  test('the content of a block is bounded, and a list of long blocks is refused until it has fewer', async () => {
    const { ID } = await create();
    const path = `/${ID}/content-blocks`;
    const Content = 'x'.repeat(1_000_000);
    for (const name of ['Content', 'MarkdownContent']) {
      const refused = await ask('POST', path, { Name: 'long', [name]: `${Content}x` });
      assert.equal(refused.status, 422);
      assert.match(refused.body.errors[0], new RegExp(`^${name}: `));
    }
    for (let at = 0; at < 6; at++) await ok('POST', path, { Name: `b${at}`, Content, MarkdownContent: Content });
    for (const list of [path, '/all/content-blocks']) {
      const refused = await ask('GET', list);
      const message = 'The blocks of this list have more than 10000000 characters: ask for fewer with per_page';
      assert.deepEqual([refused.status, refused.body.errors], [422, [message]]);
      assert.equal((await ok('GET', `${list}?per_page=4`)).length, 4);
    }
    await ok('DELETE', `/${ID}`);
  });
});
