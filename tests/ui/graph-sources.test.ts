import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';
import { answerGraphql } from '../support/graphql-upstream.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const schema =
  'type Query { user(id: ID): User weather: Weather }\ntype User { name: String }\ntype Weather { degrees: Int }';

describe('Sources of GraphQL APIs in the dashboard', () => {
  const dashboard = testDashboard();
  let admin: Person;
  let graph: Upstream;
  let rest: Upstream;
  before(async () => {
    [graph, rest] = await Promise.all([startUpstream(), startUpstream()]);
    answerGraphql(graph);
    rest.answer = async (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"now":{"degrees":21}}');
    };
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
  });
  after(() => Promise.all([graph?.close(), rest?.close()]));

  const save = async (page: Page, name: string) => {
    await page.getByText('Unsaved changes: The definition is valid').waitFor();
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText(`API ${name} saved. Live on all traffic threads`).first().waitFor();
    await page.getByText('No changes', { exact: true }).waitFor();
  };

  test('fields with a REST and a GraphQL source answer one query in the playground, and a reset removes the source', async () => {
    const page = await dashboard.openAs(admin, '/apis/new');
    await page.getByRole('radio', { name: /^Data graph/ }).check();
    await page.getByLabel('Name').fill('Mixed');
    await page.getByRole('textbox', { name: /^Schema/ }).fill(schema);
    await page.getByRole('switch', { name: 'Require a key' }).uncheck();
    await page.getByRole('button', { name: 'Create API' }).click();
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row('Query.user').getByText('No source').waitFor();
    const bind = async (name: string, fill: () => Promise<void>) => {
      await page.getByRole('button', { name: `Actions for ${name}` }).click();
      await page.getByRole('menuitem', { name: 'Configure source' }).click();
      await fill();
      await page.getByRole('button', { name: 'Apply source' }).click();
    };
    await bind('Query.user', async () => {
      await page.getByRole('button', { name: 'Apply source' }).click();
      await page.getByText('Enter an address with http, https or gw').waitFor();
      await page.getByLabel('Kind').selectOption('GraphQL');
      await page.getByLabel('Name of the source').fill('people');
      await page.getByRole('textbox', { name: /^URL/ }).fill(graph.url);
      await assertAccessible(page, 'source of a field');
    });
    await row('Query.user').getByText('people · GraphQL').waitFor();
    await bind('Query.weather', async () => {
      await page.getByRole('textbox', { name: /^URL/ }).fill(`${rest.url}/weather`);
      await page.getByLabel('Method', { exact: true }).selectOption('POST');
      await page.getByLabel('Body', { exact: true }).fill('{"day": 1}');
      await page.getByLabel('Value in the response').selectOption('A member at a path');
      await page.getByLabel('Path of the value').fill('now');
    });
    await row('Query.weather').getByText('weather · REST').waitFor();
    await save(page, 'Mixed');
    await assertAccessible(page, 'data graph');

    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('textbox', { name: 'Operation for Mixed' }).click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText('query Both($id: ID) { user(id: $id) { name } weather { degrees } }');
    await page.getByText('Variables as JSON').click();
    await page.getByRole('textbox', { name: 'Variables as JSON' }).click();
    await page.keyboard.insertText('{"id": "7"}');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Status 200').waitFor();
    const result = page.getByRole('tabpanel');
    await result.getByText(/"name": "Ann"/).waitFor();
    await result.getByText(/"degrees": 21/).waitFor();
    assert.deepEqual([rest.requests.at(-1)?.method, rest.requests.at(-1)?.body], ['POST', '{"day": 1}']);
    await assertAccessible(page, 'playground');

    await page.getByRole('link', { name: 'Sources', exact: true }).click();
    await page.getByRole('button', { name: 'Actions for Query.weather' }).click();
    await page.getByRole('menuitem', { name: 'Reset source' }).click();
    await row('Query.weather').getByText('weather · REST').waitFor({ state: 'detached' });
    await row('Query.user').getByText('people · GraphQL').waitFor();
    assert.equal(await row('Query.weather').getByText('No source').count(), 1);
  });

  test('two subgraphs show their merged schema, a third in conflict its error, and a removal needs a tick', async () => {
    const page = await dashboard.openAs(admin, '/apis/new');
    await page.getByRole('radio', { name: /^Supergraph/ }).check();
    await page.getByLabel('Name').fill('Reading');
    await page.getByRole('button', { name: 'Create API' }).click();
    const add = async (name: string, sdl: string) => {
      await page.getByRole('button', { name: 'Add subgraph' }).click();
      const dialog = page.getByRole('dialog', { name: 'Add a subgraph' });
      await dialog.getByLabel('Name').fill(name);
      await dialog.getByRole('textbox', { name: /^URL/ }).fill(`${rest.url}/${name}`);
      await dialog.getByRole('textbox', { name: /^Schema/ }).fill(sdl);
      await dialog.getByRole('button', { name: 'Add subgraph' }).click();
    };
    await add('books', 'type Book @key(fields: "id") { id: ID! title: String } type Query { books: [Book!]! }');
    await add('ratings', 'extend type Book @key(fields: "id") { id: ID! @external stars: Int }');
    await save(page, 'Reading');
    const merged = page.getByRole('textbox', { name: 'Merged schema of Reading' });
    await merged.getByText('stars: Int').waitFor();
    await merged.getByText('title: String').waitFor();
    await assertAccessible(page, 'supergraph');

    await add('clash', 'extend type Query { books: Int }');
    await page.getByText('Unsaved changes: 1 fault').waitFor();
    const fault = page.getByRole('alert').filter({ hasText: /books/ });
    await fault.first().waitFor();
    await assertAccessible(page, 'composition error');
    assert.equal(await page.getByRole('button', { name: 'Review and save' }).isDisabled(), true);
    await page.getByText('clash', { exact: true }).click();
    await page.getByRole('button', { name: 'Remove clash' }).click();
    const confirmation = page.getByRole('alertdialog');
    const remove = confirmation.getByRole('button', { name: 'Remove subgraph clash' });
    assert.equal(await remove.isDisabled(), true);
    await confirmation.getByRole('checkbox').check();
    await remove.click();
    await page.getByText('No changes', { exact: true }).waitFor();
    await fault.first().waitFor({ state: 'detached' });
  });
});
