import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import { createBulkBodyLimit } from '#operations/bulk-bodies.ts';
import { type OperationProblem, problemChannelName } from '#operations/problem-channel.ts';
import { expectProblem } from '../../tests/contract/expect-problem.ts';
import { onEveryEngine, startApp, type TestApp } from '../../tests/support/app.ts';
import { eventually } from '../../tests/support/upstream.ts';
import { problem } from './problems.ts';

type Action = 'plan' | 'apply';

const createPolicy = (id: string, more: object = {}) => ({ kind: 'policy', id, spec: { name: id, ...more } });
const createUser = (initial_password: string, id = `${createPublicId()}@example.org`) => ({
  kind: 'user',
  id,
  spec: { first_name: 'A', last_name: 'B', active: true, user_permissions: { apis: 'read' }, initial_password },
});
const run = (app: TestApp, action: Action, body: object, credential?: string) =>
  app.ask('POST', `/api/configuration/${action}`, { body, ...(credential !== undefined && { credential }) });
const faultsOf = (body: { Meta: { faults: { path: string; message: string }[] } }) =>
  body.Meta.faults.map(({ path, message }) => `${path}: ${message}`);

/** Counts the password hashes that this process starts. */
async function countHashes(work: () => Promise<unknown>): Promise<number> {
  let hashes = 0;
  const hook = createHook({ init: (_id, type) => void (type === 'SCRYPTREQUEST' && hashes++) }).enable();
  try {
    await work();
  } finally {
    hook.disable();
  }
  return hashes;
}

onEveryEngine('Limits of a configuration run', app => {
  test('a plan checks new passwords without hashing them, and an apply hashes each once', async () => {
    const password = `Long-${createPublicId()}-7`;
    const user = createUser(password);
    const send = (action: Action) => async () =>
      assert.equal((await run(app(), action, { objects: [user] })).status, 200);
    assert.equal(await countHashes(send('plan')), 0);
    assert.equal(await countHashes(send('apply')), 1);
    assert.equal(await countHashes(send('apply')), 0, 'an existing user keeps its password');
    const signedIn = await app().ask('POST', '/api/session', {
      credential: null,
      body: { username: user.id, password },
    });
    assert.equal(signedIn.status, 200, signedIn.text);
    for (const action of ['plan', 'apply'] as const) {
      const { status, body } = await run(app(), action, { objects: [createUser('x')] });
      assert.equal(status, 400);
      assert.match(faultsOf(body).join(), /^spec\.initial_password: Password/);
    }
  });

  test('more new passwords than one run hashes are refused, by a plan as by an apply', async () => {
    const objects = Array.from({ length: 101 }, () => createUser(`Long-${createPublicId()}-7`));
    for (const action of ['plan', 'apply'] as const) {
      const hashes = await countHashes(async () => {
        const { status, body } = await run(app(), action, { objects });
        assert.equal(status, 400);
        assert.match(faultsOf(body).join(), /^spec\.initial_password: of at most 100 new users/);
      });
      assert.equal(hashes, 0);
    }
  });

  test('runs of two organisations do not exclude each other', async () => {
    const credentials = await Promise.all([app().stranger(), app().stranger()]);
    const objects = Array.from({ length: 20 }, (_none, at) => createPolicy(`p${at}`));
    const replies = await Promise.all(credentials.map(({ accessKey }) => run(app(), 'plan', { objects }, accessKey)));
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200],
    );
  });
});

onEveryEngine(
  'Body limit of a configuration run',
  app => {
    test('a caller without any write permission may send management.max_body_bytes only', async () => {
      const org_id = app().credentials.organisation_id;
      const addUser = async (user_permissions: Record<string, string>) => {
        const names = { email_address: `${createPublicId()}@example.org`, first_name: 'A', last_name: 'B' };
        const body = { ...names, active: true, org_id, user_permissions };
        return (await app().ask('POST', '/admin/users', { body })).body.Message as string;
      };
      const [reader, writer] = [await addUser({ policies: 'read' }), await addUser({ policies: 'write' })];
      const plan = (length: number, credential: string) =>
        run(app(), 'plan', { objects: [createPolicy('p', { meta_data: { text: 'x'.repeat(length) } })] }, credential);
      assert.equal((await plan(3000, writer)).status, 200);
      assert.equal((await plan(3000, reader)).status, 413);
      assert.equal((await plan(10, reader)).status, 400);
      const chunked = await fetch(`${app().url.dashboard}/api/configuration/plan`, {
        method: 'POST',
        headers: { authorization: reader, 'content-type': 'application/json' },
        body: new Blob(['{"objects":[]}']).stream(),
        duplex: 'half',
      });
      assert.equal(chunked.status, 413);
    });
  },
  { settings: { 'management.max_body_bytes': '2000' } },
);

const maxBulkBodyBytes = 67_108_864;
onEveryEngine('Bodies of configuration runs in memory', app => {
  /** Sends the head of a request with the largest body, and none of the body. */
  async function sendHead(action: Action): Promise<{ socket: Socket; response: () => string }> {
    const { hostname, port } = new URL(app().url.dashboard);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('utf8').on('data', chunk => {
      text += chunk;
    });
    await once(socket, 'connect');
    const lines = [
      `POST /api/configuration/${action} HTTP/1.1`,
      ...[`Host: ${hostname}`, `Authorization: ${app().credentials.admin_access_key}`],
      ...['Content-Type: application/json', `Content-Length: ${maxBulkBodyBytes}`],
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    return { socket, response: () => text };
  }

  test('more than an organisation may hold get 503 with Retry-After, until others have ended', async () => {
    const { maxOrganisationBytes } = createBulkBodyLimit(maxBulkBodyBytes);
    const accepted = Math.floor(maxOrganisationBytes / maxBulkBodyBytes);
    for (const action of ['plan', 'apply'] as const) {
      const sent = await Promise.all(Array.from({ length: accepted + 1 }, () => sendHead(action)));
      const refused = () => sent.map(({ response }) => response()).filter(Boolean);
      try {
        await eventually(() => assert.equal(refused().length, 1));
        assert.match(refused()[0]!, /^HTTP\/1\.1 503 [\s\S]*\r\nretry-after: 5\r\n[\s\S]*Too many large requests/i);
      } finally {
        for (const { socket } of sent) socket.destroy();
      }
      await eventually(async () => assert.equal((await run(app(), action, { objects: [] })).status, 200));
    }
  });
});

test('bodies of bulk writes: one organisation gets half of the limit, and one body is always accepted', () => {
  const limit = createBulkBodyLimit(10, 1600);
  const releases = [limit.reserve('a', 10), limit.reserve('a', 40), limit.reserve('b', 45)];
  assert.throws(() => limit.reserve('a', 1), { code: 'operation.too_many_bodies' });
  assert.throws(() => limit.reserve('c', 6), { code: 'operation.too_many_bodies' });
  limit.reserve('c', 5);
  releases[0]!();
  releases[0]!();
  assert.throws(() => limit.reserve('a', 11), { code: 'operation.too_many_bodies' });
  limit.reserve('a', 10);
  assert.equal(createBulkBodyLimit(1000, 1600).maxOrganisationBytes, 1000);
});

onEveryEngine(
  'Deletions by a configuration run',
  app => {
    test('management.delete_requires_force refuses to prune what others depend on, unless forced', async () => {
      const { accessKey } = await app().stranger();
      const api = createPublicId();
      const definition = {
        name: 'A',
        use_keyless: true,
        proxy: { listen_path: `/${api}/`, target_url: 'http://127.0.0.1:9/' },
      };
      const policy = createPolicy('p', { access_rights: { [api]: { api_id: api, versions: [] } } });
      const objects = [{ kind: 'api', id: api, spec: { format: 'classic', definition } }, policy];
      assert.equal((await run(app(), 'apply', { objects }, accessKey)).status, 200);
      for (const action of ['plan', 'apply'] as const) {
        const { status, text } = await run(app(), action, { objects: [], prune: ['api'] }, accessKey);
        assert.equal(status, 400);
        assert.match(text, /policies p/);
      }
      assert.equal((await app().ask('GET', `/api/apis/${api}`, { credential: accessKey })).status, 200);
      const forced = await run(app(), 'apply', { objects: [], prune: ['api'], force: true }, accessKey);
      assert.equal(forced.status, 200, forced.text);
      assert.equal((await app().ask('GET', `/api/apis/${api}`, { credential: accessKey })).status, 404);
    });

    test('the audit records of an apply name every changed object', async () => {
      const { accessKey } = await app().stranger();
      const objects = Array.from({ length: 45 }, (_none, at) => createPolicy(`${createPublicId()}-${at}`));
      assert.equal((await run(app(), 'apply', { objects }, accessKey)).status, 200);
      const { text } = await app().ask('GET', '/api/audit-logs?p=-1', { credential: accessKey });
      for (const { id } of objects) assert.ok(text.includes(`create policy ${id}`), id);
    });
  },
  { settings: { 'management.delete_requires_force': 'true' } },
);

let [offsetMs, stepMs] = [0, 0];
const now = () => {
  offsetMs += stepMs;
  return systemClock.now() + offsetMs;
};
onEveryEngine(
  'Deadline of a configuration run',
  app => {
    test('a run that is overdue ends, changes nothing, and the next one starts; management.plan_timeout_seconds', async () => {
      const id = createPublicId();
      const objects = Array.from({ length: 20 }, (_none, at) => createPolicy(`${id}-${at}`));
      for (const action of ['plan', 'apply'] as const) {
        stepMs = 30_000;
        const { status, body } = await run(app(), action, { objects });
        stepMs = 0;
        assert.equal(status, 503);
        const seconds = action === 'plan' ? 90 : 240;
        assert.match(body.Message, new RegExp(`^Nothing was changed: the run took longer than ${seconds} seconds`));
        assert.equal((await app().ask('GET', `/api/portal/policies/${id}-0`)).status, 404);
      }
      assert.equal((await run(app(), 'apply', { objects })).status, 200);
    });
  },
  { clock: { now }, settings: { 'management.plan_timeout_seconds': '90' } },
);

/** Open Policy Agent that holds the decision about a policy until it is released. */
async function holdDecisions() {
  const held = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const agent = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString();
    if (text.includes('"createPolicy"')) {
      arrived.resolve();
      await held.promise;
    }
    response.end(request.method === 'POST' ? '{"result":{"deny":[]}}' : '{}');
  }).listen(0, '127.0.0.1');
  await once(agent, 'listening');
  const url = `http://127.0.0.1:${(agent.address() as AddressInfo).port}`;
  // SQLite has one connection: another request would wait for the run.
  const app = await startApp('postgres', { settings: { 'rules.opa_url': url, 'rules.opa_timeout_ms': '30000' } });
  const open_policy = { enabled: true, rules: 'package a\ndeny[x] { x := 1 }' };
  const { status, text } = await app.ask('PUT', '/api/org/opa', { body: { open_policy } });
  assert.equal(status, 200, text);
  return {
    app,
    arrived: arrived.promise,
    release: held.resolve,
    async close() {
      held.resolve();
      await app.close();
      agent.closeAllConnections();
      agent.close();
    },
  };
}

describe('A configuration run in progress', () => {
  test('refuses another one of the same organisation', async () => {
    const { app, arrived, release, close } = await holdDecisions();
    try {
      const body = { objects: [createPolicy(createPublicId())] };
      const running = run(app, 'apply', body);
      await arrived;
      for (const action of ['plan', 'apply'] as const)
        await expectProblem(app, `${action}Configuration`, problem.run_in_progress, `/api/configuration/${action}`, {
          body,
        });
      release();
      assert.equal((await running).status, 200);
    } finally {
      await close();
    }
  });

  for (const action of ['plan', 'apply'] as const)
    test(`ends without a change when its client leaves (${action})`, async () => {
      const { app, arrived, release, close } = await holdDecisions();
      const codes: string[] = [];
      const onProblem = (message: unknown) => codes.push((message as OperationProblem).code);
      subscribe(problemChannelName, onProblem);
      try {
        const id = createPublicId();
        const text = JSON.stringify({ objects: [createPolicy(id), createPolicy(`${id}-2`)] });
        const { hostname, port } = new URL(app.url.dashboard);
        const client = connect(Number(port), hostname);
        client.write(
          `POST /api/configuration/${action} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\n` +
            `Authorization: ${app.credentials.admin_access_key}\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
        );
        await arrived;
        client.destroy();
        await once(client, 'close');
        // A later request: the server has seen the end of the first client when it responds.
        assert.equal((await app.ask('GET', '/api/portal/policies')).status, 200);
        release();
        await eventually(() => assert.ok(codes.includes(problem.run_abandoned.code), codes.join()));
        assert.equal((await app.ask('GET', `/api/portal/policies/${id}`)).status, 404);
      } finally {
        unsubscribe(problemChannelName, onProblem);
        await close();
      }
    });
});
