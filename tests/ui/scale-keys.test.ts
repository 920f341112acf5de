import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import type { Person } from '../support/browser.ts';
import { testDashboard } from '../support/dashboard-app.ts';

const keyCount = 100_000;
const original = 'original-of-many';
/** Rows of a list that are in the document at most: those of the screen and some around it. */
const maxRowsInDocument = 200;

describe('List of 100,000 keys', () => {
  const dashboard = testDashboard({ settings: { 'management.page_size': '1000', 'keys.at_rest': 'hashed' } });
  let person: Person;
  const countRows = (page: Page) => page.getByRole('row').count();

  before(async () => {
    person = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const { ask, application } = dashboard.app();
    const proxy = { listen_path: '/many/', target_url: 'http://127.0.0.1:9', strip_listen_path: true };
    const api_definition = { api_id: 'many', name: 'Many', use_standard_auth: true, proxy };
    await ask('POST', '/api/apis?wait=applied', { body: { api_definition } });
    const access_rights = { many: { api_id: 'many', api_name: 'Many', versions: ['Default'] } };
    const made = await ask('POST', '/api/keys', { body: { alias: original, access_rights } });
    assert.equal(made.status, 200, made.text);
    const hash: string = made.body.key_hash;
    // Copies of the stored row and of its line in the search index.
    const { db } = application.installation.records;
    const numbers = sql`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(keyCount - 1)})`;
    const alias = sql`printf('key-%06d', n)`;
    const copy = (column: string) =>
      sql`replace(replace(${sql.ref(column)}, ${original}, ${alias}), ${hash}, printf('%s%06d', substr(${hash}, 7), n))`;
    await sql`insert into keys ${numbers} select ${copy('id')} || n, org_id, created_at + n, ${copy('body')},
      digest || n, ${copy('key_hash')}, kind, sealed, expires_at, inactive from keys, numbers`.execute(db);
    await sql`insert into search_names ${numbers} select org_id, kind, ${copy('text')}, ${copy('object')} || n,
      ${copy('label')}, detail from search_names, numbers where kind = 'keys'`.execute(db);
  });

  test('a long page keeps few rows in the document while it is scrolled to its end', async () => {
    const page = await dashboard.openAs(person, '/keys');
    await page.getByText('Page 1 of 100').waitFor();
    assert.ok((await countRows(page)) < maxRowsInDocument);
    const table = page.getByRole('table');
    assert.equal(await table.getAttribute('aria-rowcount'), '1001');
    await page.keyboard.press('End');
    await table.locator('tr[aria-rowindex="1001"]').waitFor();
    assert.ok((await countRows(page)) < maxRowsInDocument);
    assert.equal(await table.locator('tr[aria-rowindex="2"]').count(), 0);
  });

  test('the server finds one of them by a part of its alias', async () => {
    const page = await dashboard.openAs(person, '/keys');
    await page.getByRole('searchbox').fill('key-0421');
    await page.waitForURL(/q=key-0421/);
    await page.getByRole('link', { name: 'key-042117' }).waitFor();
    assert.equal(await page.getByRole('table').getAttribute('aria-rowcount'), '101', 'a head and a hundred keys');
  });
});
