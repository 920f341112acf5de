import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Person } from '../support/browser.ts';
import { testDashboard } from '../support/dashboard-app.ts';

const apiCount = 10_000;
const rowsAtOnce = 1000;
const original = 'original-of-many';
const number = (n: number) => String(n).padStart(6, '0');

describe('List of 10,000 APIs', () => {
  const dashboard = testDashboard();
  let person: Person;

  before(async () => {
    person = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const { ask, application } = dashboard.app();
    const proxy = { listen_path: `/${original}/`, target_url: 'http://127.0.0.1:9', strip_listen_path: true };
    const definition = { api_id: original, name: original, use_keyless: true, proxy };
    await ask('POST', '/api/apis?wait=applied', { body: { api_definition: definition } });
    // Copies of the stored row, without a change that traffic threads would load: the list is tested, not the gateway.
    const { db } = application.installation.records;
    const table = 'apis' as never;
    const row = (await db
      .selectFrom(table)
      .selectAll()
      .where('api_id' as never, '=', original as never)
      .executeTakeFirst()) as Record<string, unknown> | undefined;
    const databaseId = String(row!.id);
    const copy = (n: number) =>
      Object.fromEntries(
        Object.entries(row!).map(([name, value]) => [
          name,
          typeof value === 'string'
            ? value.replaceAll(original, `api-${number(n)}`).replaceAll(databaseId, `copy-${number(n)}`)
            : value,
        ]),
      );
    for (let at = 1; at < apiCount; at += rowsAtOnce) {
      const rows = Array.from({ length: Math.min(rowsAtOnce, apiCount - at) }, (_, n) => copy(at + n));
      await db
        .insertInto(table)
        .values(rows as never)
        .execute();
    }
  });

  test('the first page opens with few rows, every page is reachable, and the search runs on the server', async () => {
    const page = await dashboard.openAs(person, '/apis?sort=name');
    await page.getByRole('link', { name: 'api-000001' }).waitFor();
    assert.ok((await page.getByRole('row').count()) < 100, 'rows of one page only');
    await page.getByText('Page 1 of 1000').waitFor();
    await page.goto(`${dashboard.app().url.dashboard}/apis?sort=name&p=1000`);
    await page.getByRole('link', { name: original }).waitFor();
    await page.getByRole('searchbox').fill('api-00421');
    await page.getByRole('link', { name: 'api-004219' }).waitFor();
    await page.waitForURL(/q=api-00421/);
    assert.equal(await page.getByRole('row').count(), 11, 'a head and ten rows');
  });

  test('the palette finds one of them by its name', async () => {
    const page = await dashboard.openAs(person, '/');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.keyboard.press('Control+K');
    await page.keyboard.type('api-009876');
    await page.getByRole('option', { name: 'api-009876' }).waitFor();
  });
});
