import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { requestPortal } from '../../../tests/support/portal.ts';

onEveryEngine('categories of posts', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api/categories${path}`, body === undefined ? {} : { body });
  const ok = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);
  const createPost = (Categories: readonly string[], Status = 'published') => {
    const Path = createPublicId();
    return ok('POST', '/posts', { Title: `Post ${Path}`, Content: 'c', Status, Path, Categories }, 201);
  };
  const read = async (path: string) => {
    const response = await fetch(app().url.portal + path, { headers: { accept: 'text/html' } });
    return { status: response.status, text: await response.text() };
  };

  test('a category is created, renamed and deleted, and its posts follow', async () => {
    const name = `Releases ${createPublicId()}`;
    const category = await ok('POST', '/categories', { Name: name }, 201);
    assert.deepEqual(await ok('GET', `/categories/${category.ID}`), category);
    assert.deepEqual((await ok('GET', '/categories?limit=1'))[0], category);
    const post = await createPost([name]);
    assert.equal(post.Categories[0].ID, category.ID);
    const renamed = await ok('PUT', `/categories/${category.ID}`, { ...category, Name: `${name} 2` });
    assert.equal((await ok('GET', `/posts/${post.ID}`)).Categories[0].Name, renamed.Name);
    assert.deepEqual(await ok('DELETE', `/categories/${category.ID}`), { status: 'ok' });
    assert.deepEqual((await ok('GET', `/posts/${post.ID}`)).Categories, []);
    for (const method of ['GET', 'DELETE']) assert.equal((await ask(method, `/${category.ID}`)).status, 404);
    assert.equal((await ask('PUT', `/${category.ID}`, { Name: 'x' })).status, 422);
  });

  test('repeated, numeric and misspelt names are refused', async () => {
    const { Name } = await ok('POST', '/categories', { Name: `c-${createPublicId()}` }, 201);
    for (const [body, message] of [
      [{ Name }, 'Name: another category has it'],
      [{ Name: '12' }, 'Name: must not be a number'],
      [{ Nam: 'x', Name: 'y' }, 'Nam: no such member; did you mean Name?'],
    ] as const) {
      const { status, body: reply } = await ask('POST', '', body);
      assert.deepEqual([status, reply.errors], [422, [message]]);
    }
    const other = await ok('POST', '/categories', { Name: `c-${createPublicId()}` }, 201);
    assert.equal((await ask('PUT', `/${other.ID}`, { Name })).status, 422);
  });

  test('the page of a category lists its published posts alone; without any there is no page', async () => {
    const name = `A & b/${createPublicId()}`;
    const url = `/blog/category/${encodeURIComponent(name)}`;
    const draft = await createPost([name], 'draft');
    assert.equal((await read(url)).status, 404);
    const post = await createPost([name]);
    const elsewhere = await createPost([`${name} other`]);
    const { status, text } = await read(url);
    assert.equal(status, 200);
    assert.match(text, /<h1>A &amp; b\//);
    assert.ok(text.includes(post.Title));
    for (const other of [draft, elsewhere]) assert.ok(!text.includes(other.Title));
    const day = post.CreatedAt.slice(0, 10).replaceAll('-', '/');
    const shown = (await read(`/blog/${day}/${post.Path}`)).text;
    assert.ok(shown.includes(`href="${url.replaceAll('&', '&amp;')}"`), shown);
    await ok('PUT', `/posts/${post.ID}`, { Title: post.Title, Status: 'draft' });
    assert.equal((await read(url)).status, 404);
    for (const path of ['/blog/category/none', '/blog/category/%00', '/blog/category/a%2fb'])
      assert.equal((await read(path)).status, 404, path);
  });
});
