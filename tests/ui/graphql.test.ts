import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Person } from '../support/browser.ts';
import { assertAccessible, readAgain, testDashboard } from '../support/dashboard-app.ts';
import { answerGraphql } from '../support/graphql-upstream.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

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
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
    person = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    await dashboard.app().ask('POST', '/api/apis?wait=applied', { body: { api_definition: definition } });
  });

  after(() => upstream?.close());

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
    await page.getByRole('alert').getByText('The schema cannot be saved').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Review and save' }).isDisabled(), true);
    await replace(schema.replace('title: String', 'title: String isbn: ID'));
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog', { name: 'Review changes' }).getByText('isbn: ID').first().waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('API Library saved').waitFor();
    const { body } = await dashboard.app().ask('GET', '/api/apis/library');
    assert.match(body.api_definition.graphql.schema, /isbn: ID/);
    assert.equal(body.api_definition.graphql.execution_mode, 'proxyOnly');
    await assertAccessible(page, 'schema of a GraphQL API');
  });

  test('a persisted operation is checked against the schema, saved, and sent to the upstream', async () => {
    const { ask, url } = dashboard.app();
    const proxy = { ...definition.proxy, listen_path: '/desk/', target_url: upstream.url };
    const desk = { ...definition, api_id: 'desk', name: 'Desk', proxy };
    await ask('POST', '/api/apis?wait=applied', { body: { api_definition: desk } });
    const page = await dashboard.openAs(person, '/apis/desk/persisted');
    await page.getByRole('button', { name: 'Add persisted operation' }).click();
    await page.getByLabel('Path', { exact: true }).fill('/titles/{first}');
    const editor = page.getByRole('textbox', { name: 'GraphQL operation' });
    const replace = async (text: string) => {
      await editor.click();
      await page.keyboard.press('Control+A');
      await page.keyboard.insertText(text);
    };
    await replace('query Titles { books { isbn } }');
    await page.getByRole('alert').getByText('field: isbn not defined on type: Book').waitFor();
    await replace('query Titles { books { title } }');
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.getByLabel('Variables of the operation as JSON').fill('{ "first": "$path.first" }');
    await page.getByRole('row', { name: /GET \/titles\/\{first\} Titles first/ }).waitFor();
    await assertAccessible(page, 'persisted operations');
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('API Desk saved').waitFor();
    upstream.answer = (_request, response) => void response.end('{"data":{"books":[{"title":"Emma"}]}}');
    const response = await fetch(`${url.gateway}/desk/titles/3`);
    upstream.answer = undefined;
    assert.deepEqual(await response.json(), { data: { books: [{ title: 'Emma' }] } });
    assert.match(upstream.requests.at(-1)?.body ?? '', /query Titles/);
    await page.getByRole('button', { name: 'Actions for GET /titles/{first}' }).click();
    await page.getByRole('menuitem', { name: 'Remove operation' }).click();
    await page.getByRole('heading', { name: 'No persisted operations' }).waitFor();
  });

  test('edits of a schema stay when another user saved one, and are merged by definition', async () => {
    const { ask } = dashboard.app();
    const shared = {
      ...definition,
      api_id: 'shared',
      name: 'Shared',
      proxy: { ...definition.proxy, listen_path: '/s/' },
    };
    await ask('POST', '/api/apis?wait=applied', { body: { api_definition: shared } });
    const page = await dashboard.openAs(person, '/apis/shared/schema');
    const editor = page.getByRole('textbox', { name: 'Schema of Shared' });
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText('\nscalar Mine');
    const theirs = { ...shared, graphql: { ...shared.graphql, schema: `scalar Theirs\n${schema}` } };
    await ask('PUT', '/api/apis/shared?wait=applied', { body: { api_definition: theirs } });
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Apply mine on top' }).click();
    await page
      .getByRole('dialog', { name: 'Review changes' })
      .getByRole('button', { name: 'Save', exact: true })
      .click();
    await page.getByText('API Shared saved').waitFor();
    const { body } = await ask('GET', '/api/apis/shared');
    for (const part of ['scalar Mine', 'scalar Theirs', 'type Book'])
      assert.ok(body.api_definition.graphql.schema.includes(part), part);
  });

  test('the schema is read from the upstream, and a GraphQL API is created with one', async () => {
    answerGraphql(upstream);
    const page = await dashboard.openAs(person, '/apis/new');
    await page.getByRole('radio', { name: /^GraphQL/ }).check();
    await page.getByLabel('Name').fill('Shelf');
    await page.getByLabel('Upstream URL').fill(upstream.url);
    await page.getByRole('button', { name: 'Create API' }).click();
    await page.getByText('Enter a schema with a type Query').waitFor();
    await page.getByRole('textbox', { name: /^Schema/ }).fill('type Query { old: Int }');
    await page.getByRole('button', { name: 'Create API' }).click();
    await page.getByRole('heading', { level: 1, name: 'Shelf' }).waitFor();
    await page.getByRole('link', { name: 'Schema', exact: true }).click();
    await page.getByRole('button', { name: 'Read from the upstream' }).click();
    await page.getByText('Schema read from the upstream').waitFor();
    await page.getByRole('textbox', { name: 'Schema of Shelf' }).getByText('old: Int').waitFor({ state: 'detached' });
    await page.goto(`${dashboard.app().url.dashboard}/apis/new`);
    await page.getByRole('radio', { name: /^MCP/ }).check();
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.waitForURL('**/mcp-proxies/new');
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

  test('typed permissions and rules stay when a later read has another state', async () => {
    const { ask } = dashboard.app();
    const page = await dashboard.openAs(person, '/settings');
    await page.getByRole('button', { name: 'Add permission' }).click();
    await page.getByLabel('Name').last().fill('mine');
    await page.getByRole('textbox', { name: 'Rules in Rego' }).click();
    await page.keyboard.type('# mine');
    await ask('PUT', '/api/org/permissions', { body: { additional_permissions: { theirs: 'Theirs' } } });
    await ask('PUT', '/api/org/opa', { body: { open_policy: { enabled: false, rules: '# theirs' } } });
    const read = page.waitForResponse(response => response.url().endsWith('/api/org/permissions'));
    await readAgain(page);
    await read;
    await page.getByRole('textbox', { name: 'Rules in Rego' }).getByText('# mine').waitFor();
    assert.equal(await page.getByLabel('Name').last().inputValue(), 'mine');
  });
});
