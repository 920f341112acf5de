import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';

const portalTime = /^\d{4}-\d\d-\d\d \d\d:\d\d$/;
const least = () => ({ Title: 'News', Content: '<p>Hello</p>', Status: 'draft', Path: `news-${createPublicId()}` });
const names = (labels: { Name: string }[]) => labels.map(({ Name }) => Name);

onEveryEngine('posts', app => {
  const make = async (more: object = {}) => {
    const answer = await app().ask('POST', '/portal-api/posts', { body: { ...least(), ...more } });
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const put = (id: string, more: object = {}) =>
    app().ask('PUT', `/portal-api/posts/${id}`, { body: { Title: 'News', Status: 'draft', ...more } });

  test('a post created with four members is returned with every member', async () => {
    const body = least();
    const { CreatedAt, UpdatedAt, ID, ...post } = await make(body);
    assert.match(ID, /^\d+$/);
    assert.match(CreatedAt, portalTime);
    assert.equal(UpdatedAt, CreatedAt);
    assert.deepEqual(post, {
      ...body,
      Lede: '',
      Categories: [],
      Tags: [],
      MarkdownEnabled: false,
      MarkdownContent: '',
      PreviewContent: '',
      PublishAt: '',
      Image: '',
      IsPublic: false,
    });
  });

  test('markup is stored as sent; integers and booleans may be text', async () => {
    const given = {
      Title: 'Release',
      Lede: 'Short',
      Content: '<script>alert(1)</script><p>é</p>',
      Status: 'Published',
      MarkdownEnabled: 'true',
      MarkdownContent: '# <b>x</b>',
      PreviewContent: '<i>p</i>',
    };
    const { ID } = await make(given);
    const { body } = await app().ask('GET', `/portal-api/posts/${ID}`);
    for (const [name, value] of Object.entries({ ...given, Status: 'published', MarkdownEnabled: true }))
      assert.equal(body[name], value, name);
  });

  test('an update returns the whole post and keeps unsent members', async () => {
    const made = await make({ Lede: 'old', Categories: ['a'], MarkdownContent: 'm' });
    const { status, body } = await put(made.ID, { Title: 'New', Status: 'published', Content: '<p>2</p>' });
    assert.equal(status, 200);
    const { UpdatedAt, ...rest } = body;
    assert.match(UpdatedAt, portalTime);
    const { UpdatedAt: _before, ...old } = made;
    assert.deepEqual(rest, { ...old, Title: 'New', Status: 'published', Content: '<p>2</p>', IsPublic: true });
    const again = await app().ask('PUT', `/portal-api/posts/${made.ID}`, { body });
    assert.equal(again.status, 200, again.text);
    assert.deepEqual(again.body.Categories, made.Categories);
  });

  test('categories and tags are referenced by id or name; unknown names are created', async () => {
    const first = await make({ Categories: ['Guides', ' Updates '], Tags: ['v1'] });
    assert.deepEqual(names(first.Categories), ['Guides', 'Updates']);
    const [guides, updates] = first.Categories;
    assert.deepEqual(Object.keys(guides).sort(), ['CreatedAt', 'ID', 'Name', 'UpdatedAt']);
    assert.match(guides.ID, /^\d+$/);
    assert.match(guides.CreatedAt, portalTime);
    const second = await make({ Categories: [updates.ID, 'Guides', Number(guides.ID)], Tags: ['v1', 'v2', 'v1'] });
    assert.deepEqual(second.Categories, [updates, guides]);
    assert.deepEqual(names(second.Tags), ['v1', 'v2']);
    assert.deepEqual(second.Tags[0], first.Tags[0]);
    const { body } = await put(second.ID, { Categories: [], Tags: null });
    assert.deepEqual([body.Categories, body.Tags], [[], []]);
  });

  test('concurrent posts with the same new tag share it', async () => {
    const { tags } = app().application.installation.services.posts;
    const name = createPublicId();
    const nowMs = Date.parse('2026-01-01T00:00:00Z');
    const settled = await Promise.all(
      Array.from({ length: 8 }, () => tags.resolveOrCreate([name], 'Tags', 'tag', nowMs)),
    );
    assert.equal(new Set(settled.flat()).size, 1);
    const made = await Promise.all([1, 2, 3].map(() => make({ Tags: [name] })));
    assert.deepEqual(new Set(made.map(({ Tags }) => Number(Tags[0].ID))), new Set(settled[0]));
  });

  test('an unknown label id is refused with its path, and nothing is created', async () => {
    const name = createPublicId();
    const { status, body } = await app().ask('POST', '/portal-api/posts', {
      body: { ...least(), Tags: [name, 999999] },
    });
    assert.equal(status, 422);
    assert.deepEqual(body, { status: 'error', errors: ['Tags[1]: there is no tag 999999'] });
    const { db } = app().application.installation.records;
    assert.equal((await db.selectFrom('portal_tags').select('id').where('name', '=', name).execute()).length, 0);
  });

  test('the list has rows with ids and names, newest first, in pages', async () => {
    const made = [];
    for (let n = 0; n < 3; n++) made.unshift(await make({ Categories: ['Listed'], Tags: [`n${n}`] }));
    const list = async (query: string) => (await app().ask('GET', `/portal-api/posts?${query}`)).body;
    const [row] = await list('per_page=1');
    const { MarkdownContent: _m, PreviewContent: _p, ...expected } = made[0];
    assert.deepEqual(row, {
      ...expected,
      ID: Number(made[0].ID),
      Type: 'blog',
      Categories: ['Listed'],
      Tags: ['n2'],
    });
    const ids = (rows: { ID: number }[]) => rows.map(({ ID }) => String(ID));
    const wanted = made.map(({ ID }) => ID);
    assert.deepEqual(ids(await list('per_page=2')), wanted.slice(0, 2));
    assert.deepEqual(ids(await list('per_page=2&page=2')).slice(0, 1), wanted.slice(2));
    assert.deepEqual(ids(await list('limit=1')), wanted.slice(0, 1));
    assert.deepEqual(await list('page=500'), []);
    assert.equal((await app().ask('GET', '/portal-api/posts?page=0')).status, 422);
  });

  test('a duplicate path is a conflict on create and update', async () => {
    const { Path } = await make();
    const again = await app().ask('POST', '/portal-api/posts', { body: { ...least(), Path } });
    assert.equal(again.status, 409);
    assert.deepEqual(again.body.errors, ['Path: another post has this path']);
    assert.equal((await put((await make()).ID, { Path })).status, 409);
  });

  test('an invalid member of a post is refused with its path', async () => {
    const { ID } = await make();
    for (const [wrong, place] of [
      [{ Title: '' }, 'Title'],
      [{ Title: 1 }, 'Title'],
      [{ Status: 'gone' }, 'Status'],
      [{ Path: 'a b' }, 'Path'],
      [{ Path: 'a?b' }, 'Path'],
      [{ Content: {} }, 'Content'],
      [{ Lede: [] }, 'Lede'],
      [{ Categories: 'news' }, 'Categories'],
      [{ Categories: [true] }, 'Categories[0]'],
      [{ Tags: [''] }, 'Tags[0]'],
      [{ MarkdownEnabled: 'maybe' }, 'MarkdownEnabled'],
      [{ MarkdownContent: 1 }, 'MarkdownContent'],
      [{ PublishAt: 'tomorrow' }, 'PublishAt'],
      [{ PublishAt: '2030-13-01 00:00' }, 'PublishAt'],
    ] as const) {
      const created = await app().ask('POST', '/portal-api/posts', { body: { ...least(), ...wrong } });
      for (const { status, body } of [created, await put(ID, wrong)]) {
        assert.equal(status, 422, JSON.stringify(wrong));
        assert.ok(body.errors[0].startsWith(`${place}: `), body.errors[0]);
      }
    }
    const { status, body } = await app().ask('POST', '/portal-api/posts', { body: {} });
    assert.equal(status, 422);
    assert.deepEqual(body.errors.map((line: string) => line.split(':')[0]).sort(), [
      'Content',
      'Path',
      'Status',
      'Title',
    ]);
    const partial = await app().ask('PUT', `/portal-api/posts/${ID}`, { body: {} });
    assert.deepEqual(partial.body.errors.map((line: string) => line.split(':')[0]).sort(), ['Status', 'Title']);
    for (const broken of ['', '{"Title"'])
      assert.equal((await app().ask('PUT', `/portal-api/posts/${ID}`, { body: broken })).status, 422);
  });

  test('a removed post is not found; an unknown one is 404 on read or delete and 422 on write', async () => {
    const { ID } = await make({ Tags: ['t'] });
    const { status, body } = await app().ask('DELETE', `/portal-api/posts/${ID}`);
    assert.equal(status, 200);
    assert.deepEqual(body, { status: 'ok' });
    for (const id of [ID, '0', 'x']) {
      const path = `/portal-api/posts/${id}`;
      assert.equal((await app().ask('GET', path)).status, 404);
      assert.equal((await app().ask('DELETE', path)).status, 404);
      assert.equal((await put(id, { Tags: ['never'] })).status, 422);
      for (const kind of ['categories', 'tags']) {
        assert.equal((await app().ask('GET', `${path}/${kind}`)).status, 404);
        assert.equal((await app().ask('POST', `${path}/${kind}`, { body: { ID: 1 } })).status, 422);
        assert.equal((await app().ask('DELETE', `${path}/${kind}/1`)).status, 404);
      }
    }
    const { db } = app().application.installation.records;
    assert.equal((await db.selectFrom('portal_tags').select('id').where('name', '=', 'never').execute()).length, 0);
  });

  for (const [kind, member, what] of [
    ['categories', 'Categories', 'category'],
    ['tags', 'Tags', 'tag'],
  ] as const) {
    test(`${kind} are attached, listed and detached one by one`, async () => {
      const source = await make({ [member]: [`${kind} one`, `${kind} two`] });
      const [one, two] = source[member];
      const { ID } = await make();
      const path = `/portal-api/posts/${ID}/${kind}`;
      for (const label of [one, two, one]) {
        const { status, body } = await app().ask('POST', path, { body: { ID: Number(label.ID) } });
        assert.equal(status, 201);
        assert.deepEqual(body, label);
      }
      assert.deepEqual((await app().ask('GET', path)).body, [one, two]);
      assert.deepEqual((await app().ask('GET', `${path}?per_page=1&page=2`)).body, [two]);
      assert.deepEqual((await app().ask('GET', `${path}?limit=1`)).body, [one]);
      assert.deepEqual((await app().ask('GET', `/portal-api/posts/${ID}`)).body[member], [one, two]);

      const { status, body } = await app().ask('DELETE', `${path}/${one.ID}`);
      assert.equal(status, 200);
      assert.deepEqual(body, { status: 'ok' });
      const gone = await app().ask('DELETE', `${path}/${one.ID}`);
      assert.equal(gone.status, 404);
      assert.deepEqual((await app().ask('GET', path)).body, [two]);
      assert.deepEqual((await app().ask('GET', `/portal-api/posts/${source.ID}/${kind}`)).body, [one, two]);

      const unknown = await app().ask('POST', path, { body: { ID: 999999 } });
      assert.equal(unknown.status, 422);
      assert.deepEqual(unknown.body.errors, [`ID: there is no ${what} 999999`]);
      const wrong = await app().ask('POST', path, { body: { ID: 'x' } });
      assert.deepEqual([wrong.status, wrong.body.errors], [422, ['ID: must be a whole number']]);
    });
  }
});
