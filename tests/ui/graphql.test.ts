import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';

const schema = 'type Query { books: [Book] }\ntype Book { title: String }';
const definition = {
  api_id: 'library',
  name: 'Library',
  use_keyless: true,
  proxy: { listen_path: '/library/', target_url: 'http://127.0.0.1:9', strip_listen_path: true },
  graphql: { enabled: true, execution_mode: 'proxyOnly', version: '2', schema },
};

describe('GraphQL APIs and settings in the dashboard', () => {
  const dashboard = testDashboard();
  let person: Person;
  before(async () => {
    person = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    await dashboard.app().ask('POST', '/api/apis?wait=applied', { body: { api_definition: definition } });
  });

  test('a schema with a fault is refused before it is saved, and a valid one is served', async () => {
    const page = await dashboard.openAs(person, '/data-graphs');
    await page.getByRole('link', { name: 'Library' }).click();
    const editor = page.getByRole('textbox', { name: 'Schema of Library' });
    await editor.waitFor();
    const replace = async (text: string) => {
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
      await editor.click();
      await page.keyboard.press('Control+A');
      await page.keyboard.press('Control+V');
    };
    await replace('type Query { books: [Boook] }');
    await page.getByRole('button', { name: 'Save schema' }).click();
    await page.getByRole('alert').getByText('The schema cannot be saved').waitFor();
    await replace(schema.replace('title: String', 'title: String isbn: ID'));
    await page.getByRole('button', { name: 'Save schema' }).click();
    await page.getByText('Schema of Library saved').waitFor();
    const { body } = await dashboard.app().ask('GET', '/api/apis/library');
    assert.match(body.api_definition.graphql.schema, /isbn: ID/);
    assert.equal(body.api_definition.graphql.execution_mode, 'proxyOnly');
    await assertAccessible(page, 'schema of a GraphQL API');
  });

  test('additional permissions and rules are saved, and a module that is not valid is refused in place', async () => {
    const page = await dashboard.openAs(person, '/settings');
    await page.getByRole('button', { name: 'Add permission' }).click();
    await page.getByLabel('Name').fill('deploy_apis');
    await page.getByLabel('Title').fill('May deploy');
    await page.getByRole('button', { name: 'Save permissions' }).click();
    await page.getByText('Permissions saved').waitFor();
    const { body } = await dashboard.app().ask('GET', '/api/org/permissions');
    assert.deepEqual(body.additional_permissions, { deploy_apis: 'May deploy' });
    await page.getByRole('textbox', { name: 'Rules in Rego' }).click();
    await page.keyboard.type('not rego');
    await page.getByRole('button', { name: 'Save rules' }).click();
    await page.getByRole('alert').waitFor();
    await assertAccessible(page, 'settings');
  });
});
