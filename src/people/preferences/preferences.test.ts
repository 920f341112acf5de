import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addPerson, openBrowser } from '../../../tests/support/browser.ts';

const path = '/api/preferences';
const defaults = {
  theme: 'system',
  density: 'comfortable',
  language: '',
  time_zone: '',
  toast_seconds: 5,
  single_key_shortcuts: true,
  is_menu_collapsed: false,
  columns: {},
  saved_views: [],
  favourites: [],
  hints_seen: [],
  tried_examples: [],
  first_run: { step: 0, is_done: false },
};
const own = {
  theme: 'dark',
  density: 'compact',
  language: 'pt-BR',
  time_zone: 'Europe/Berlin',
  toast_seconds: 10,
  single_key_shortcuts: false,
  is_menu_collapsed: true,
  columns: { apis: ['name', 'listen_path'], keys: [] },
  saved_views: [{ list: 'apis', name: 'Mine', query: 'q=orders&sort=-updated_at' }],
  favourites: [{ kind: 'apis', id: 'abc', name: 'Orders' }],
  hints_seen: ['palette', 'designer/search'],
  tried_examples: [{ api_id: 'abc', name: 'First page', method: 'GET', path: '/?page=1', headers: 'A: b', body: '' }],
  first_run: { step: 3, is_done: true },
};

onEveryEngine('Preferences', app => {
  const rowsOf = async (userId: string) => {
    const { db } = app().application.installation.records;
    return (await db.selectFrom('user_preferences').select('user_id').where('user_id', '=', userId).execute()).length;
  };

  test('a user without permissions reads the defaults, stores preferences and reads them back', async () => {
    const { accessKey: credential } = await addPerson(app(), { user_permissions: { portal: 'read' } });
    assert.deepEqual((await app().ask('GET', path, { credential })).body, defaults);
    const stored = await app().ask('PUT', path, { credential, body: own });
    assert.deepEqual([stored.status, stored.body.Message], [200, 'Preferences updated'], stored.text);
    assert.deepEqual((await app().ask('GET', path, { credential })).body, own);
    assert.equal((await app().ask('PUT', path, { credential, body: { theme: 'light' } })).status, 200);
    assert.deepEqual((await app().ask('GET', path, { credential })).body, { ...defaults, theme: 'light' });
  });

  test('preferences are those of one user, not of the colleagues', async () => {
    const [one, other] = [await addPerson(app()), await addPerson(app())];
    await app().ask('PUT', path, { credential: one.accessKey, body: own });
    assert.deepEqual((await app().ask('GET', path, { credential: other.accessKey })).body, defaults);
  });

  test('a browser session has the preferences of its user', async () => {
    const { username, password, accessKey } = await addPerson(app());
    const browser = openBrowser(app());
    await browser.signIn({ username, password });
    assert.equal((await browser.ask('PUT', path, { body: own })).status, 200);
    assert.deepEqual((await app().ask('GET', path, { credential: accessKey })).body, own);
  });

  test('an invalid, unknown, duplicate or oversized member is refused with its path, and nothing is stored', async () => {
    const { accessKey: credential, id } = await addPerson(app());
    const many = (length: number) => Array.from({ length }, (_each, index) => `n${index}`);
    for (const [wrong, place] of [
      [{ theme: 'blue' }, 'theme: '],
      [{ colour: 'blue' }, 'colour: no such member'],
      [{ language: 'not a tag' }, 'language: '],
      [{ time_zone: 'Mars/Olympus' }, 'time_zone: '],
      [{ toast_seconds: 0 }, 'toast_seconds: '],
      [{ columns: { 'no slug!': [] } }, 'columns.no slug!: '],
      [{ columns: { apis: many(61) } }, 'columns.apis: '],
      [{ columns: { apis: ['a', 'a'] } }, 'columns.apis: has duplicates'],
      [{ columns: Object.fromEntries(many(51).map(name => [name, []])) }, 'columns: may hold at most 50 lists'],
      [{ saved_views: [{ list: 'apis', name: ' ', query: '' }] }, 'saved_views[0].name: is required'],
      [{ saved_views: [{ list: 'apis', name: 'a', query: 'q'.repeat(2001) }] }, 'saved_views[0].query: '],
      [{ favourites: [own.favourites[0], { ...own.favourites[0], name: '' }] }, 'favourites: has duplicates'],
      [{ favourites: [{ ...own.favourites[0], url: '/' }] }, 'favourites[0].url: no such member'],
      [{ hints_seen: many(301) }, 'hints_seen: '],
      [{ first_run: { step: 21 } }, 'first_run.step: '],
      [{ tried_examples: [...own.tried_examples, ...own.tried_examples] }, 'tried_examples: has duplicates'],
      [{ tried_examples: [{ ...own.tried_examples[0], method: 'get' }] }, 'tried_examples[0].method: is not a method'],
      [{ tried_examples: [{ ...own.tried_examples[0], body: 'b'.repeat(8001) }] }, 'tried_examples[0].body: '],
      [
        { saved_views: many(40).map(name => ({ list: 'apis', name, query: 'q'.repeat(2000) })) },
        'all preferences together may have at most 65536 bytes',
      ],
    ] as const) {
      const answer = await app().ask('PUT', path, { credential, body: wrong });
      assert.equal(answer.status, 400, answer.text);
      assert.ok(answer.body.Message.startsWith(place), `${place}: ${answer.body.Message}`);
    }
    assert.equal(await rowsOf(id), 0);
  });

  test('a deleted user leaves no preferences, neither does one that moves to another organisation', async () => {
    const { orgId } = await app().stranger();
    const [removed, moved] = [await addPerson(app()), await addPerson(app())];
    for (const { accessKey: credential } of [removed, moved]) await app().ask('PUT', path, { credential, body: own });
    assert.deepEqual([await rowsOf(removed.id), await rowsOf(moved.id)], [1, 1]);
    assert.equal((await app().ask('DELETE', `/api/users/${removed.id}`)).status, 200);
    await app().ask('PUT', `/admin/users/${moved.id}`, { body: { org_id: orgId } });
    assert.deepEqual([await rowsOf(removed.id), await rowsOf(moved.id)], [0, 0]);
  });

  test('no preferences are stored for a user that was deleted meanwhile', async () => {
    const { preferences, users } = app().application.installation.services;
    const { id: userId, orgId } = await addPerson(app());
    const { body } = await app().ask('GET', path);
    await Promise.all([users.remove(orgId, userId), preferences.replace({ orgId, userId }, body, 1)]);
    assert.equal(await rowsOf(userId), 0);
    assert.equal(await preferences.replace({ orgId, userId }, body, 1), false);
  });

  test('a single sign-on without an account has the defaults, and stores nothing', async () => {
    const nonce = {
      ForSection: 'dashboard',
      OrgID: app().credentials.organisation_id,
      EmailAddress: 'temp@example.org',
    };
    const { body } = await app().ask('POST', '/admin/sso', { body: nonce });
    const tap = await fetch(`${app().url.dashboard}/tap?nonce=${body.Meta}`, { redirect: 'manual' });
    const browser = openBrowser(app());
    browser.cookie = tap.headers.getSetCookie()[0]!.split(';')[0]!;
    browser.csrfToken = (await browser.ask('GET', '/api/session')).body.csrf_token;
    assert.deepEqual((await browser.ask('GET', path)).body, defaults);
    const refused = await browser.ask('PUT', path, { body: own });
    assert.equal(refused.status, 409);
    assert.match(refused.body.Message, /^Preferences are stored with an account/);
    assert.deepEqual((await browser.ask('GET', path)).body, defaults);
  });
});
