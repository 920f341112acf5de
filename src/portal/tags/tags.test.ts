import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addProduct, requestPortal } from '../../../tests/support/portal.ts';

const aName = () => `tag-${createPublicId()}`;

onEveryEngine('portal tags', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, path, body === undefined ? {} : { body });
  const aTag = (Name = aName()) => requestPortal(app(), 'POST', '/portal-api/tags', { Name }, 201);
  const aPost = (Tags: string[]) =>
    requestPortal(
      app(),
      'POST',
      '/portal-api/posts',
      { Title: 'News', Content: 'x', Status: 'draft', Path: aName(), Tags },
      201,
    );

  test('a tag names its posts and products, newest first', async () => {
    const tag = await aTag();
    assert.deepEqual([tag.Posts, tag.Products], [[], []]);
    const posts = [await aPost([tag.Name]), await aPost([tag.Name])];
    const product = await addProduct(app(), { Tags: [tag.ID] });
    assert.deepEqual(product.Tags, [tag.Name]);
    for (const id of [tag.ID, tag.CID]) {
      const { Posts, Products, ...rest } = await requestPortal(app(), 'GET', `/portal-api/tags/${id}`);
      assert.deepEqual(rest, { ID: tag.ID, CID: tag.CID, Name: tag.Name });
      assert.deepEqual(
        Posts.map((post: { ID: number }) => post.ID),
        posts.map(({ ID }) => Number(ID)).reverse(),
      );
      assert.deepEqual(Products, [
        {
          ID: product.ID,
          Name: product.Name,
          DisplayName: '',
          Path: product.Path,
          ReferenceID: product.ReferenceID,
          Feature: false,
          DCREnabled: false,
          ProviderID: 1,
        },
      ]);
    }
    const [row] = await requestPortal(app(), 'GET', '/portal-api/tags?limit=1');
    assert.deepEqual(row, { ID: tag.ID, Name: tag.Name });
  });

  test('a renamed tag is renamed in its posts and products; a deleted one is removed from them', async () => {
    const tag = await aTag();
    const post = await aPost([tag.Name]);
    const product = await addProduct(app(), { Tags: [tag.Name] });
    const Name = aName();
    const renamed = await requestPortal(app(), 'PUT', `/portal-api/tags/${tag.ID}`, { ...tag, Name });
    assert.deepEqual([renamed.Name, renamed.Posts.length, renamed.Products.length], [Name, 1, 1]);
    const read = async () => [
      (await requestPortal(app(), 'GET', `/portal-api/posts/${post.ID}`)).Tags.map((it: { Name: string }) => it.Name),
      (await requestPortal(app(), 'GET', `/portal-api/products/${product.ID}`)).Tags,
    ];
    assert.deepEqual(await read(), [[Name], [Name]]);
    assert.deepEqual(await requestPortal(app(), 'DELETE', `/portal-api/tags/${tag.ID}`), { status: 'ok' });
    assert.deepEqual(await read(), [[], []]);
  });

  test('a post that changes its tags or is deleted is left out of its tags', async () => {
    const tag = await aTag();
    const [one, other] = [await aPost([tag.Name]), await aPost([tag.Name])];
    await requestPortal(app(), 'PUT', `/portal-api/posts/${one.ID}`, { Title: 'x', Status: 'draft', Tags: [] });
    await requestPortal(app(), 'DELETE', `/portal-api/posts/${other.ID}`);
    assert.deepEqual((await requestPortal(app(), 'GET', `/portal-api/tags/${tag.ID}`)).Posts, []);
  });

  test('a duplicate, empty or numeric name is refused', async () => {
    const { Name } = await aTag();
    const other = await aTag();
    for (const refused of [
      await ask('POST', '/portal-api/tags', { Name }),
      await ask('PUT', `/portal-api/tags/${other.ID}`, { Name }),
    ])
      assert.deepEqual([refused.status, refused.body.errors], [422, ['tag with that name already exists']]);
    assert.deepEqual((await ask('POST', '/portal-api/tags', { Name: '7' })).body.errors, [
      'Name: must not be a number',
    ]);
    assert.equal((await ask('POST', '/portal-api/tags', { Name: ' ' })).status, 422);
  });

  test('an unknown tag is 404, and 422 on update', async () => {
    for (const id of ['99999', 'nothing']) {
      assert.equal((await ask('GET', `/portal-api/tags/${id}`)).status, 404);
      assert.equal((await ask('DELETE', `/portal-api/tags/${id}`)).status, 404);
      assert.equal((await ask('PUT', `/portal-api/tags/${id}`, { Name: aName() })).status, 422);
    }
  });

  test('tags are added to a product by name, created where they are missing, and removed', async () => {
    const { ID } = await addProduct(app());
    const path = `/portal-api/products/${ID}/tags`;
    const names = [aName(), `${aName()}/é ü`];
    for (const Name of [...names, names[0]])
      assert.deepEqual(await requestPortal(app(), 'POST', `/portal-api/products/${ID}/tags`, { Name }, 201), { Name });
    assert.deepEqual(
      await requestPortal(app(), 'GET', path),
      names.map(Name => ({ Name })),
    );
    const second = encodeURIComponent(names[1]!);
    assert.deepEqual(await requestPortal(app(), 'GET', `/portal-api/products/${ID}/tags/${second}`), {
      Name: names[1],
    });
    assert.deepEqual(await requestPortal(app(), 'DELETE', `/portal-api/products/${ID}/tags/${second}`), {
      status: 'ok',
    });
    for (const method of ['GET', 'DELETE']) assert.equal((await ask(method, `${path}/${second}`)).status, 404);
    assert.deepEqual((await requestPortal(app(), 'GET', `/portal-api/products/${ID}`)).Tags, [names[0]]);
    const unknown = '/portal-api/products/99999/tags';
    assert.equal((await ask('GET', unknown)).status, 404);
    assert.equal((await ask('POST', unknown, { Name: aName() })).status, 422);
    for (const method of ['GET', 'DELETE']) assert.equal((await ask(method, `${unknown}/a`)).status, 404);
  });

  test('a product has at most 100 tags', async () => {
    const prefix = aName();
    const { ID } = await addProduct(app(), { Tags: Array.from({ length: 100 }, (_each, at) => `${prefix}-${at}`) });
    const full = await ask('POST', `/portal-api/products/${ID}/tags`, { Name: aName() });
    assert.deepEqual([full.status, full.body.errors], [422, ['The product has 100 tags, the maximum']]);
    assert.equal((await ask('POST', `/portal-api/products/${ID}/tags`, { Name: `${prefix}-1` })).status, 201);
  });
});
