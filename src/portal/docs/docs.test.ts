import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addProduct, portalTimePattern, requestPortal } from '../../../tests/support/portal.ts';

const least = (Title = 'Start') => ({
  Title,
  Content: '<p>Hello</p>',
  Status: 'published',
  Path: `doc-${createPublicId()}`,
});

onEveryEngine('docs of portal products', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, path, body === undefined ? {} : { body });
  const aDoc = (productId: number, more: object = {}) =>
    requestPortal(app(), 'POST', `/portal-api/products/${productId}/docs`, { ...least(), ...more }, 201);
  const titles = async (productId: number, query = '') =>
    (await requestPortal(app(), 'GET', `/portal-api/products/${productId}/docs${query}`)).map(
      (doc: { Title: string }) => doc.Title,
    );

  test('a doc is created with four members, returned with every member, and changed', async () => {
    const { ID: productId } = await addProduct(app());
    const body = { ...least(), Tags: ['guide'], Categories: ['Start'] };
    const made = await aDoc(productId, body);
    const { ID, CreatedAt, UpdatedAt, ...doc } = made;
    for (const time of [CreatedAt, UpdatedAt]) assert.match(time, portalTimePattern);
    assert.deepEqual(doc, {
      ...body,
      Type: 'doc',
      Lede: '',
      MarkdownEnabled: false,
      MarkdownContent: '',
      PreviewContent: '',
    });
    const path = `/portal-api/products/${productId}/docs/${ID}`;
    assert.deepEqual(await requestPortal(app(), 'GET', `/portal-api/products/${productId}/docs/${ID}`), made);
    const change = { Title: 'Second', Status: 'draft', MarkdownContent: '# x', Tags: [] };
    const changed = await requestPortal(app(), 'PUT', path, change);
    assert.deepEqual({ ...changed, UpdatedAt }, { ...made, ...change });
    assert.deepEqual(await requestPortal(app(), 'DELETE', path), { status: 'ok' });
    for (const method of ['GET', 'DELETE']) assert.equal((await ask(method, path)).status, 404);
    assert.equal((await ask('PUT', path, change)).status, 422);
  });

  test('docs are in the order in which they were added, until they are reordered', async () => {
    const { ID } = await addProduct(app());
    const [a, b, c] = [await aDoc(ID, { Title: 'a' }), await aDoc(ID, { Title: 'b' }), await aDoc(ID, { Title: 'c' })];
    assert.deepEqual(await titles(ID), ['a', 'b', 'c']);
    const path = `/portal-api/products/${ID}/docs/reorder`;
    assert.equal((await ask('POST', path, [c.ID, String(a.ID), b.ID])).status, 200);
    assert.deepEqual(await titles(ID), ['c', 'a', 'b']);
    assert.deepEqual([await titles(ID, '?per_page=2&page=2'), await titles(ID, '?limit=1')], [['b'], ['c']]);
    await requestPortal(app(), 'DELETE', `/portal-api/products/${ID}/docs/${b.ID}`);
    await aDoc(ID, { Title: 'd' });
    assert.deepEqual(await titles(ID), ['c', 'a', 'd']);
  });

  test('an order that does not name every doc of the product once is refused', async () => {
    const { ID } = await addProduct(app());
    const [a, b] = [await aDoc(ID, { Title: 'a' }), await aDoc(ID, { Title: 'b' })];
    const foreign = await aDoc((await addProduct(app())).ID);
    for (const order of [[], [a.ID], [a.ID, a.ID], [a.ID, b.ID, b.ID], [a.ID, foreign.ID], [a.ID, b.ID, 99_999]]) {
      const { status, body } = await ask('POST', `/portal-api/products/${ID}/docs/reorder`, order);
      assert.deepEqual([status, body.errors], [400, ['The order must name every doc of the product once']]);
    }
    assert.deepEqual(await titles(ID), ['a', 'b']);
  });

  test('paths are unique in a product, and docs are no posts of the blog', async () => {
    const [one, other] = [await addProduct(app()), await addProduct(app())];
    const doc = await aDoc(one.ID);
    const again = await ask('POST', `/portal-api/products/${one.ID}/docs`, { ...least(), Path: doc.Path });
    assert.deepEqual([again.status, again.body.errors], [422, ['Path: another doc of the product has this path']]);
    const second = await aDoc(one.ID);
    const change = { Title: 'x', Status: 'draft', Path: doc.Path };
    assert.equal((await ask('PUT', `/portal-api/products/${one.ID}/docs/${second.ID}`, change)).status, 422);
    await aDoc(other.ID, { Path: doc.Path });
    const posts = await requestPortal(app(), 'GET', '/portal-api/posts?per_page=1000');
    assert.ok(!posts.some((post: { Path: string }) => post.Path === doc.Path));
  });

  test('a doc of another product is unknown, and docs are deleted with their product', async () => {
    const [one, other] = [await addProduct(app()), await addProduct(app())];
    const doc = await aDoc(one.ID);
    const path = `/portal-api/products/${other.ID}/docs/${doc.ID}`;
    for (const method of ['GET', 'DELETE']) assert.equal((await ask(method, path)).status, 404);
    assert.equal((await ask('PUT', path, { Title: 'x', Status: 'draft' })).status, 422);
    await requestPortal(app(), 'DELETE', `/portal-api/products/${one.ID}`);
    const { records } = app().application.installation;
    const rows = await records.db
      .selectFrom('portal_product_docs')
      .select('id')
      .where('product_id', '=', one.ID)
      .execute();
    assert.deepEqual(rows, []);
    const docs = `/portal-api/products/${one.ID}/docs`;
    assert.equal((await ask('GET', docs)).status, 404);
    assert.equal((await ask('POST', docs, least())).status, 422);
    assert.equal((await ask('POST', `${docs}/reorder`, [])).status, 422);
  });

  test('a product has at most 1000 docs', async () => {
    const { ID } = await addProduct(app());
    const { records } = app().application.installation;
    const row = (at: number) => ({ product_id: ID, position: at + 1, path: `p${at}`, body: '{}' });
    for (let start = 0; start < 1000; start += 100)
      await records.db
        .insertInto('portal_product_docs')
        .values(Array.from({ length: 100 }, (_each, at) => row(start + at)) as never)
        .execute();
    const full = await ask('POST', `/portal-api/products/${ID}/docs`, least());
    assert.deepEqual([full.status, full.body.errors], [422, ['The product has 1000 docs, the maximum']]);
  });
});
