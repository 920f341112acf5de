import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { expectProblem } from '../../../tests/contract/expect-problem.ts';
import { rememberSecrets, startApp, type TestApp } from '../../../tests/support/app.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { problem } from '../problems.ts';

interface AgentRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
}

interface AgentInput {
  readonly request: { readonly operation: string; readonly path: string };
}

const token = 'planted-token-of-the-agent';

/** An HTTP server with the part of the REST API of Open Policy Agent that is used; its decision is set by the test. */
class Agent {
  readonly requests: AgentRequest[] = [];
  readonly modules = new Map<string, string>();
  decide: (input: AgentInput) => unknown = () => ({ deny: [] });
  override: { status: number; body: string } | undefined;
  isSilent = false;
  readonly server: Server = createServer(async (request, response) => {
    const text = await readText(request);
    const { method = '', url: path = '' } = request;
    this.requests.push({ method, path, authorization: request.headers.authorization ?? '', body: text });
    if (this.isSilent) return;
    const { status, body } = this.override ?? (await this.#respond(method, path, text));
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });

  async #respond(method: string, path: string, text: string) {
    const name = path.split('/').at(-1)!;
    if (method === 'PUT') {
      if (text.includes('syntax error')) {
        const errors = [{ message: 'unexpected token', location: { row: 2, col: 3 } }];
        return { status: 400, body: JSON.stringify({ code: 'invalid_parameter', message: 'errors', errors }) };
      }
      this.modules.set(name, text);
      return { status: 200, body: '{}' };
    }
    if (method === 'DELETE') return { status: this.modules.delete(name) ? 200 : 404, body: '{}' };
    if (!this.modules.has(name)) return { status: 200, body: '{}' };
    return { status: 200, body: JSON.stringify({ result: await this.decide(JSON.parse(text).input) }) };
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

describe('Open Policy Agent', () => {
  let app: TestApp;
  let agent: Agent;
  before(async () => {
    agent = new Agent();
    agent.server.listen(0, '127.0.0.1');
    await once(agent.server, 'listening');
    const { port } = agent.server.address() as AddressInfo;
    const settings = {
      'rules.opa_url': `http://127.0.0.1:${port}/`,
      'rules.opa_token': token,
      'rules.opa_timeout_ms': '1000',
    };
    rememberSecrets({ token });
    app = await startApp('sqlite', { settings });
  });
  after(async () => {
    await app?.close();
    agent.server.closeAllConnections();
    agent.server.close();
  });
  beforeEach(async () => {
    agent.override = undefined;
    agent.isSilent = false;
    agent.decide = () => ({ deny: [] });
    await write('package any.name\n\ndeny[x] { x := walk_all }');
    agent.requests.length = 0;
  });
  const write = (rules: string, enabled = true) =>
    app.ask('PUT', '/api/org/opa', { body: { open_policy: { enabled, rules } } });
  const read = () => app.ask('GET', '/api/hooks');

  test('rules.opa_url: a request is evaluated by the agent, with the token, and denied with its reasons', async () => {
    assert.equal((await read()).status, 200);
    const [question] = agent.requests;
    assert.equal(agent.requests.length, 1);
    assert.match(question!.path, /^\/v1\/data\/gw\/rules\/r[0-9a-f]{64}$/);
    assert.equal(question!.authorization, `Bearer ${token}`);
    const { input } = JSON.parse(question!.body);
    assert.equal(input.user.email_address, app.credentials.admin_email);
    assert.deepEqual(input.request, {
      operation: 'listHooks',
      method: 'GET',
      path: '/api/hooks',
      intent: 'read',
      query: {},
    });
    agent.decide = () => ({ deny: ['first', 'second'], helper: 1 });
    const refused = await read();
    assert.deepEqual([refused.status, refused.body.Message], [403, 'access denied: first; second']);
  });

  test('rules are loaded with a package of their own, checked by the agent, and removed when they are replaced', async () => {
    const rules = 'package any.name\n\ndeny[x] { x := [y | y := 1] }';
    assert.equal((await write(rules)).status, 200);
    const [[name, text]] = [...agent.modules] as [[string, string]];
    assert.equal(agent.modules.size, 1);
    assert.equal(text, rules.replace('any.name', `gw.rules.${name}`));
    const refused = await write('package a\n# syntax error\ndeny[x] { }');
    assert.equal(refused.status, 400);
    assert.equal(refused.body.Message, 'open_policy.rules: line 2, column 3: unexpected token');
    assert.equal((await app.ask('GET', '/api/org/opa')).body.open_policy.rules, rules);
    assert.equal((await write('')).status, 200);
    assert.equal(agent.modules.size, 0);
    await write(rules);
    agent.override = { status: 500, body: '{}' };
    assert.equal((await write('')).status, 200);
    agent.override = undefined;
    await write(rules);
    agent.isSilent = true;
    assert.equal((await write('')).status, 200);
    assert.equal((await app.ask('GET', '/api/org/opa')).body.open_policy.rules, '');
  });

  test('an agent that lost its rules gets them again', async () => {
    agent.modules.clear();
    agent.decide = () => ({ deny: ['again'] });
    assert.equal((await read()).body.Message, 'access denied: again');
    assert.deepEqual(
      agent.requests.map(({ method }) => method),
      ['POST', 'PUT', 'POST'],
    );
  });

  test('allow without a value denies', async () => {
    await write('package a\nallow { input.user.id == "x" }');
    agent.decide = () => ({});
    assert.equal((await read()).body.Message, 'access denied: the rules of the organisation do not allow it');
    agent.decide = () => ({ allow: true });
    assert.equal((await read()).status, 200);
  });

  test('a response that is no decision denies the request', async () => {
    for (const override of [
      { status: 500, body: '{}' },
      { status: 200, body: 'no json' },
      { status: 200, body: '[]' },
      { status: 200, body: '{"result":true}' },
      { status: 200, body: '{"result":{"deny":{"a":1}}}' },
      { status: 200, body: '{}' },
    ]) {
      agent.override = override;
      const answer = await read();
      assert.equal(answer.status, 503, `${override.status} ${override.body}`);
      assert.match(answer.body.Message, /^The rules of the organisation cannot be evaluated: /);
    }
  });

  test('rules.opa_timeout_ms: an agent that does not respond denies the request', async () => {
    agent.isSilent = true;
    const answer = await read();
    assert.deepEqual(
      [answer.status, answer.body.Message],
      [503, 'The rules of the organisation cannot be evaluated: Open Policy Agent unavailable'],
    );
    const before = (await app.ask('GET', '/api/org/opa')).body;
    assert.equal((await write('package a\ndeny[x] { x := 1 }')).status, 503);
    assert.deepEqual((await app.ask('GET', '/api/org/opa')).body, before);
  });

  test('the operator sets no rules of an organisation that the agent cannot load', async () => {
    const { orgId } = await app.stranger();
    agent.override = { status: 500, body: '{}' };
    const open_policy = { enabled: true, rules: 'package a\ndeny[x] { x := 1 }' };
    const body = { owner_name: 'Ruled', open_policy };
    const { rules_unavailable } = problem;
    const id = createPublicId();
    await expectProblem(app, 'createOrganisation', rules_unavailable, '/admin/organisations', { body });
    const path = '/admin/organisations/import';
    await expectProblem(app, 'importOrganisation', rules_unavailable, path, { body: { ...body, id } });
    await expectProblem(app, 'updateOrganisation', rules_unavailable, `/admin/organisations/${orgId}`, { body });
    assert.equal((await app.ask('GET', `/admin/organisations/${id}`)).status, 404);
  });

  test('rules that reach outside of their package are refused before the agent gets them', async () => {
    for (const [rules, message] of [
      ['deny[x] { x := data.gw.rules }', 'line 2, column 16: data is not allowed'],
      ['deny[x] { http.send({"url": "http://127.0.0.1/"}); x := 1 }', 'line 2, column 11: http is not allowed'],
      ['deny[x] { x := http["send"]({}) }', 'line 2, column 16: http is not allowed'],
      ['deny[x] { x := opa.runtime() }', 'line 2, column 16: opa is not allowed'],
      ['import data.gw', 'line 2, column 8: data is not allowed'],
      ['deny[x] { x := $"{data.gw}" }', 'line 2, column 16: $ is not allowed'],
      ['deny[x] {\n  "." == "."\n  data.gw.rules[x]\n}', 'line 4, column 3: data is not allowed'],
      ['deny[x] {\n  y := `.`\n  http.send({"url": y})\n}', 'line 4, column 3: http is not allowed'],
      ['deny[x] { x := json.match_schema({}, input.body) }', 'line 2, column 21: match_schema is not allowed'],
      ['deny[x] { x := json["verify_schema"](input.body) }', 'line 2, column 21: verify_schema is not allowed'],
    ] as const) {
      const answer = await write(`package a\n${rules}`);
      assert.deepEqual([answer.status, answer.body.Message], [400, `open_policy.rules: ${message}`]);
    }
    assert.equal(
      (await write('package a\ndeny[x] { x := input.data.http; json.is_valid("match_schema") }')).status,
      200,
    );
    assert.ok(agent.requests.every(({ body }) => !/http\.send|opa\.runtime|data\.gw/.test(body)));
  });
});

describe('Open Policy Agent and an apply of configuration', () => {
  let app: TestApp;
  let agent: Agent;
  before(async () => {
    agent = new Agent();
    agent.server.listen(0, '127.0.0.1');
    await once(agent.server, 'listening');
    const { port } = agent.server.address() as AddressInfo;
    const settings = { 'rules.opa_url': `http://127.0.0.1:${port}/`, 'rules.opa_timeout_ms': '30000' };
    app = await startApp('sqlite', { settings });
    const open_policy = { enabled: true, rules: 'package a\n\ndeny[x] { x := 1 }' };
    assert.equal((await app.ask('PUT', '/api/org/opa', { body: { open_policy } })).status, 200);
  });
  after(async () => {
    await app?.close();
    agent.server.closeAllConnections();
    agent.server.close();
  });
  const createPolicy = (id: string) => ({ kind: 'policy', id, spec: { name: id, rate: 1, per: 1 } });
  const run = (action: 'plan' | 'apply', objects: readonly object[], prune: readonly string[] = []) =>
    app.ask('POST', `/api/configuration/${action}`, { body: { objects, prune } });
  const countPolicies = async () => (await app.ask('GET', '/gw/policies')).body.length as number;

  test('rules are evaluated outside of the transaction: other writers do not wait for the agent', async () => {
    const statuses: number[] = [];
    agent.decide = async ({ request }) => {
      if (request.operation !== 'createPolicy') return { deny: [] };
      const api = createPublicId();
      const proxy = { listen_path: `/${api}/`, target_url: 'http://127.0.0.1:9/' };
      const body = { api_id: api, name: api, use_keyless: true, proxy };
      statuses.push((await app.ask('POST', '/gw/apis', { body })).status);
      return { deny: [] };
    };
    const objects = [createPolicy('one'), createPolicy('two')];
    const planned = await run('plan', objects);
    const applied = await run('apply', objects);
    assert.deepEqual([planned.status, applied.status], [200, 200], applied.text);
    assert.deepEqual(applied.body.Meta.changes, planned.body.Meta.changes);
    assert.deepEqual(statuses, [200, 200, 200, 200]);
    assert.equal((await app.ask('GET', '/gw/policies/two')).status, 200);
  });

  test('an object that the rules deny is named, and nothing is changed', async () => {
    agent.decide = ({ request }) => ({ deny: request.operation === 'createHook' ? ['no hooks'] : [] });
    const before = await countPolicies();
    const hook = { kind: 'webhook', id: 'h', spec: { method: 'POST', target_path: 'http://127.0.0.1:1/' } };
    for (const action of ['plan', 'apply'] as const) {
      const { status, body } = await run(action, [createPolicy('three'), hook]);
      assert.equal(status, 400);
      assert.deepEqual(body.Meta.faults, [{ kind: 'webhook', id: 'h', path: '', message: 'access denied: no hooks' }]);
    }
    assert.equal(await countPolicies(), before);
  });

  test('an apply that finds new objects after each evaluation ends with 409, and changes nothing', async () => {
    await run('apply', [createPolicy('gone')]);
    const before = await countPolicies();
    let created = 0;
    agent.decide = async ({ request }) => {
      if (request.operation === 'deletePolicy') {
        created++;
        const id = createPublicId();
        await app.ask('POST', '/gw/policies', { body: { id, name: id } });
      }
      return { deny: [] };
    };
    const { status, text } = await run('apply', [], ['policy']);
    assert.deepEqual([status, /changed several times/.test(text)], [409, true], text);
    assert.equal(await countPolicies(), before + created);
  });

  for (const action of ['plan', 'apply'] as const)
    test(`${action}: a run whose client closed the connection ends, and changes nothing`, async () => {
      const controller = new AbortController();
      agent.decide = async ({ request }) => {
        if (request.operation !== 'createPolicy') return { deny: [] };
        controller.abort();
        // Requests on other connections: the listener has read the end of the first connection before their responses.
        for (let count = 0; count < 3; count++) await app.ask('GET', '/hello');
        return { deny: [] };
      };
      const sent = fetch(`${app.url.dashboard}/api/configuration/${action}`, {
        method: 'POST',
        headers: { authorization: app.credentials.admin_access_key, 'content-type': 'application/json' },
        body: JSON.stringify({ objects: [createPolicy('abandoned'), createPolicy('abandoned-too')] }),
        signal: controller.signal,
      });
      await assert.rejects(sent, { name: 'AbortError' });
      const isRefused = (record: { action: string; status: number }) =>
        record.action === `${action}Configuration` && record.status === 503;
      await eventually(async () => {
        const { body } = await app.ask('GET', '/api/audit-logs?p=-1');
        assert.ok((Object.values(body).flat() as { action: string; status: number }[]).some(isRefused));
      });
      assert.equal((await app.ask('GET', '/gw/policies/abandoned')).status, 404);
    });
});
