import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { walkOf } from './support/doc-commands.ts';
import { type Child, eventually, runChild, scratch, startChild, startCommand } from './support/gw-process.ts';
import { testPostgres, testRedis } from './support/services/engines.ts';
import { createSiteClient } from './support/site-client.ts';

const { fresh, remove } = scratch('demo');
after(remove);

const run = promisify(execFile);

interface DemoFile {
  readonly port: number;
  readonly apiIds: readonly string[];
  readonly keys: readonly { readonly alias: string; readonly policy: string; readonly key: string }[];
  readonly analyst: { readonly email: string; readonly password: string };
  readonly developer: { readonly email: string; readonly password: string };
}

const readDemo = (directory: string) => JSON.parse(readFileSync(join(directory, 'demo.json'), 'utf8')) as DemoFile;

const startDemo = (directory: string, environment: Record<string, string> = {}) =>
  startChild({ directory, environment, args: ['--demo'] });

/** Commands that `gw demo` prints. */
async function listCommands(directory: string): Promise<string[]> {
  const { code, out, err } = await runChild(['demo'], { directory });
  assert.equal(code, 0, err);
  return [...out.matchAll(/^ {2}(curl .*)$/gm)].map(([, command]) => command!);
}

/** Runs a printed command; its status and body. */
async function runCommand(command: string): Promise<{ status: number; body: string }> {
  const { stdout } = await run('sh', ['-c', `${command} -w '\\n%{http_code}'`]);
  const at = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(at + 1)), body: stdout.slice(0, at) };
}

/** Runs every printed command: all but the failing API respond with success. */
async function callAll(directory: string): Promise<void> {
  const commands = await listCommands(directory);
  assert.equal(commands.length, 7);
  const promised = [
    /"customer":"Ada"/,
    /"sku":"mug"/,
    /"celsius"/,
    /Le Guin/,
    /./,
    /"report":"sales"/,
    /listOrders|Ada/,
  ];
  for (const [place, command] of commands.entries()) {
    const { status, body } = await runCommand(command);
    if (command.includes('/payments/')) assert.ok([201, 502, 503, 504].includes(status), `${status} ${body}`);
    else assert.equal(status, 200, `${command}: ${body}`);
    assert.match(body, promised[place]!, command);
  }
}

/** A browser that has signed in to the portal as the developer, with the printed password. */
async function signInDeveloper(child: Child, directory: string) {
  const { out } = await runChild(['demo'], { directory });
  const [, email, password] = /^A developer of the portal: (\S+), password (\S+)$/m.exec(out) ?? [];
  const client = createSiteClient({ url: { portal: child.urls.portal! } });
  assert.equal((await client.signIn(email!, password!)).status, 303);
  return client;
}

const call = (child: Child, path: string, key: string, body?: unknown) =>
  fetch(child.urls.gateway + path, {
    headers: { authorization: key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });

interface LoggedCall {
  readonly tags: readonly string[];
  readonly user_agent: string;
  readonly response_code: number;
}

/** Requests that clients have sent, without those of the sample history. */
async function readLiveCalls(child: Child, query: string): Promise<LoggedCall[]> {
  const { status, body, text } = await child.ask('GET', `/api/logs/?p=1&${query}`);
  assert.equal(status, 200, text);
  return (body.data as LoggedCall[]).filter(({ tags }) => !tags.includes('demo-history'));
}

/** Rows of `meta` with the names `….turn` are locks; the first change creates `revision`. */
const countQuery = (table: string) =>
  `select count(*) as n from "${table}" ${table === 'meta' ? "where name not like '%.turn' and name <> 'revision'" : ''}`;

/** Numbers of rows by table. */
function countRows(directory: string): Record<string, number> {
  const database = new DatabaseSync(join(directory, 'gw.db'), { readOnly: true });
  try {
    const tables = database.prepare("select name from sqlite_master where type = 'table'").all() as { name: string }[];
    return Object.fromEntries(tables.map(({ name }) => [name, Number(database.prepare(countQuery(name)).get()!.n)]));
  } finally {
    database.close();
  }
}

const readMarker = (directory: string): unknown => {
  const database = new DatabaseSync(join(directory, 'gw.db'), { readOnly: true });
  try {
    return database.prepare("select value from meta where name = 'demo'").get()?.value;
  } finally {
    database.close();
  }
};

const removeDemo = (directory: string, environment: Record<string, string> = {}) =>
  runChild(['demo', '--remove'], { directory, environment });

describe('a running demo', () => {
  const directory = fresh();
  let child: Child;
  let demo: DemoFile;
  before(async () => {
    child = await startDemo(directory);
    demo = readDemo(directory);
  });
  after(() => child?.stop());
  const now = Math.floor(Date.now() / 1000);
  const range = `start=${now - 90_000}&end=${now + 3600}`;

  test('printed commands call every sample API; keys are in a private file, not in the output of the start', async () => {
    assert.match(child.out(), /The demo runs: gw demo .* shows its keys/);
    assert.equal(statSync(join(directory, 'demo.json')).mode & 0o777, 0o600);
    for (const { key } of demo.keys) assert.ok(!child.out().includes(key) && !child.err().includes(key));
    await callAll(directory);
  });

  test('usage has the sample history of every REST API', async () => {
    const { status, body, text } = await child.ask('GET', `/api/usage?${range}&group_by=api_id`);
    assert.equal(status, 200, text);
    const rows = body.data as { id: { api_id: string }; hits: number }[];
    const hits = new Map(rows.map(it => [it.id.api_id, it.hits]));
    for (const id of demo.apiIds.filter(it => it !== 'demo-order-tools')) assert.ok(hits.get(id)! > 5, id);
    const logged = await child.ask('GET', `/api/logs?p=1&${range}&tags=demo-history`);
    const times = (logged.body.data as { timestamp: string }[]).map(({ timestamp }) => Date.parse(timestamp));
    assert.ok(times.length > 0);
    const started = statSync(join(directory, 'demo.json')).mtimeMs;
    for (const time of times) assert.ok(time < started && time > started - 90_000_000, new Date(time).toISOString());
  });

  test('the log has calls of every API, and sample calls that were refused', async () => {
    await callAll(directory);
    for (const id of demo.apiIds)
      await eventually(
        async () => (await readLiveCalls(child, `${range}&api_id=${id}`)).length > 0,
        `calls of ${id} are logged`,
      );
    await eventually(async () => {
      const calls = await readLiveCalls(child, `${range}&errors=true`);
      return calls.some(it => it.user_agent.startsWith('demo-') && [401, 403, 404, 429].includes(it.response_code));
    }, 'sample calls are refused');
  });

  test('Payments fails in every way, its breaker opens, and the webhook is delivered to the upstream', async () => {
    const visitor = demo.keys[0]!.key;
    const seen = new Set<number>();
    await eventually(async () => {
      seen.add((await call(child, '/payments/charges', visitor, { amount: 1 })).status);
      return [201, 502, 503, 504].every(status => seen.has(status));
    }, 'charges fail in each way');
    await eventually(async () => {
      const response = await call(child, '/payments/refunds', visitor, { charge: 'ch_1' });
      return (await response.text()).includes('Service temporarily unavailable.');
    }, 'the circuit breaker opens');
    await eventually(async () => {
      const { body } = await child.ask('GET', '/api/deliveries?api_id=demo-payments&state=delivered');
      return body.deliveries.some(({ event }: { event: string }) => event === 'BreakerTriggered');
    }, 'the webhook is delivered');
  });

  test('the analyst signs in, reads APIs, and cannot change them', async () => {
    const { email, password } = demo.analyst;
    const signIn = await fetch(`${child.urls.dashboard}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: email, password }),
    });
    assert.equal(signIn.status, 200, await signIn.text());
    const users = await child.ask('GET', `/api/users/search?q=${encodeURIComponent(email)}`);
    const { id } = users.body.users[0];
    const renewed = await child.ask('PUT', `/api/users/${id}/actions/key/reset`);
    assert.equal(renewed.status, 200, renewed.text);
    const { access_key: credential } = renewed.body;
    assert.equal((await child.ask('GET', '/api/apis?p=1', { credential })).status, 200);
    assert.equal((await child.ask('DELETE', '/api/apis/demo-orders', { credential })).status, 403);
  });

  test('the developer signs in to the portal with the printed password, and sees both apps', async () => {
    assert.ok(!child.out().includes(demo.developer.password));
    const client = await signInDeveloper(child, directory);
    const { text } = await client.get('/portal/private/apps');
    assert.match(text, /Order widget/);
    assert.match(text, /Payment terminal/);
    const guide = await client.get('/portal/catalogue-products/order-api/guides');
    assert.match(guide.text, /\$BASE_URL\/shop\/orders/);
  });

  test('the portal has products, and an approved and a pending access request', async () => {
    const products = await child.ask('GET', '/portal-api/products');
    assert.deepEqual(products.body.map(({ Name }: { Name: string }) => Name).sort(), [
      'Bookshop API',
      'Order API',
      'Payment API',
    ]);
    const requests = await child.ask('GET', '/portal-api/access_requests');
    assert.deepEqual(requests.body.map(({ Status }: { Status: string }) => Status).sort(), ['approved', 'pending']);
  });

  test('the portal has texts to read: documents, guides, posts, a page and menus', async () => {
    const read = async (path: string) => {
      const response = await fetch(child.urls.portal + path, { headers: { accept: 'text/html' } });
      assert.equal(response.status, 200, path);
      return response.text();
    };
    const home = await read('/');
    assert.match(home, /Order API.*The Order API is here/s);
    assert.match(home, /<nav aria-label="Site">.*<summary>Learn<\/summary>.*href="\/help"/s);
    assert.match(await read('/help'), /Where to begin/);
    assert.match(await read('/blog/category/Engineering'), /Rotate keys without a break/);
    assert.match(await read('/portal/catalogue-products/bookshop-api/docs'), /type Author/);
    const product = await read('/portal/catalogue-products/order-api');
    assert.match(product, /What you can build/);
    const [, reference] = /href="([^"]+\/docs)"/.exec(product) ?? [];
    assert.match(await read(reference!), /Creates an order/);
  });

  test('demo.md works as documented', async () => {
    const guide = walkOf('docs/guide/demo.md');
    assert.ok(guide.promised.length >= 5);
    await guide.run({ DATA: directory, DASHBOARD: child.urls.dashboard!, GATEWAY: child.urls.gateway! });
  });

  test('a removal is refused while the process runs', async () => {
    const { code, err } = await removeDemo(directory);
    assert.equal(code, 1);
    assert.match(err, /Another gw is running on the data directory/);
  });
});

describe('gw start --demo', () => {
  test('a restart continues with the same objects, also where the port of the upstream is taken', async () => {
    const directory = fresh();
    await (await startDemo(directory)).stop();
    const before = readDemo(directory);
    const plain = await startChild({ directory });
    assert.match(plain.out(), /has the demo, whose upstream does not run.*gw start --demo starts it/s);
    assert.equal((await call(plain, '/shop/orders', before.keys[0]!.key)).status, 502);
    assert.match((await runChild(['demo'], { directory })).out, /^The demo in .* has no upstream/);
    await plain.stop();
    assert.match(
      (await runChild(['demo'], { directory })).out,
      /^The demo in .* does not run: gw start --demo starts it/,
    );

    const other = createServer(socket => socket.destroy()).listen(before.port, '127.0.0.1');
    await once(other, 'listening');
    const again = await startDemo(directory);
    const moved = readDemo(directory);
    assert.notEqual(moved.port, before.port);
    assert.deepEqual(moved.keys, before.keys);
    await callAll(directory);
    const { body } = await again.ask('GET', '/api/hooks?p=1');
    assert.equal(body.hooks[0].target_path, `http://127.0.0.1:${moved.port}/webhooks`);
    await again.stop();
    other.close();
  });

  test('an installation that is in use is refused with its contents, and is not changed', async () => {
    const directory = fresh();
    const child = await startChild({ directory });
    const definition = {
      name: 'Own',
      use_keyless: true,
      proxy: { listen_path: '/own/', target_url: child.urls.gateway },
    };
    assert.equal((await child.ask('POST', '/api/apis', { body: { api_definition: definition } })).status, 200);
    await child.stop();
    const before = countRows(directory);
    const { code, err, out } = await runChild(['start', '--demo'], { directory });
    assert.equal(code, 1);
    assert.match(err, /installation is in use, and the demo is for an empty one: it has 1 API\. Start the demo with/);
    assert.equal(out, '');
    assert.deepEqual(countRows(directory), before);
    assert.equal(existsSync(join(directory, 'demo.json')), false);
  });

  for (const [what, args, reason] of [
    ['the role gateway', ['--role', 'gateway'], /needs all roles in one process/],
    ['the role dashboard', ['--role', 'dashboard'], /needs all roles in one process/],
    ['TLS of the gateway', ['--gateway.tls.enabled'], /calls the gateway over HTTP/],
    ['a refused loopback', ['--outbound.refused_addresses', '127.0.0.0/8'], /outbound\.refused_addresses refuses/],
    ['a misspelt name', ['--dem'], /no option --dem: .*did you mean --demo\?/],
  ] as const)
    test(`${what} is refused with a reason`, async () => {
      const directory = fresh();
      const { code, err } = await runChild(['start', ...(what === 'a misspelt name' ? [] : ['--demo']), ...args], {
        directory,
      });
      assert.equal(code, 1);
      assert.match(err, reason);
      assert.equal(existsSync(join(directory, 'demo.json')), false);
    });

  test('a process that is killed while it creates the demo leaves all of it or nothing, and the next start creates it', async () => {
    const directory = fresh();
    const first = startCommand(['start', '--demo'], { directory });
    await eventually(() => existsSync(join(directory, 'credentials.json')), 'the database is seeded');
    first.child.kill('SIGKILL');
    await first.ended;
    const { apis, keys, policies, usage } = countRows(directory);
    const hasCommitted = readMarker(directory) !== undefined;
    assert.deepEqual(
      [apis, keys, policies, usage].map(count => count! > 0),
      Array(4).fill(hasCommitted),
    );
    const { code, out } = await removeDemo(directory);
    assert.equal(code, 0);
    assert.match(out, hasCommitted ? /^The demo is removed/ : /^There is no demo in this installation\.$/m);
    const child = await startDemo(directory);
    await callAll(directory);
    await child.stop();
  });
});

/** Tables of events and earlier states, which deletions never shorten, and those whose rows expire. */
const journals = [
  ...['audit', 'changes', 'counters', 'daily_statistics', 'deliveries', 'delivery_marks', 'revisions'],
  'sqlite_sequence',
];

describe('gw demo --remove', () => {
  test('what the demo has created is removed, also after an interruption, and a second run has no effect', async () => {
    const directory = fresh();
    await (await startChild({ directory })).stop();
    const before = countRows(directory);
    const child = await startDemo(directory);
    await callAll(directory);
    await signInDeveloper(child, directory);
    await child.stop();

    const marker = readMarker(directory);
    const interrupted = startCommand(['demo', '--remove'], { directory });
    await eventually(() => readMarker(directory) !== marker, 'the objects are deleted');
    interrupted.child.kill('SIGKILL');
    await interrupted.ended;

    for (const text of [/^The demo is removed\.\n$|^There is no demo/, /^There is no demo in this installation\.\n$/]) {
      const { code, out, err } = await removeDemo(directory);
      assert.equal(code, 0, err);
      assert.match(out, text);
    }
    const rest = Object.entries(countRows(directory)).filter(([name, count]) => count !== before[name]);
    assert.deepEqual(
      rest.filter(([name]) => !journals.includes(name)),
      [],
    );
    assert.equal(existsSync(join(directory, 'demo.json')), false);
    assert.match((await runChild(['demo'], { directory })).out, /There is no demo in .*: gw start --demo creates one/);
    const again = await startDemo(directory);
    await callAll(directory);
    await again.stop();
  });

  test('an object that depends on the demo prevents the removal, and other objects stay', async () => {
    const directory = fresh();
    const child = await startDemo(directory);
    const body = { alias: 'Own key', apply_policies: ['demo-gold'] };
    const created = await child.ask('POST', '/api/keys', { body });
    assert.equal(created.status, 200, created.text);
    const app = await child.ask('POST', '/portal-api/apps', { body: { Name: 'Own app', UserID: 1 } });
    const provision = { PlanID: 1, ProductIDs: [1] };
    await child.ask('PUT', `/portal-api/apps/${app.body.ID}/provision`, { body: provision });
    const hook = { method: 'POST', target_path: 'http://127.0.0.1:9/', name: 'Own webhook' };
    assert.equal((await child.ask('POST', '/api/hooks', { body: hook })).status, 200);
    await child.stop();

    const refused = await removeDemo(directory);
    assert.equal(refused.code, 1);
    assert.match(
      refused.err,
      /not removed, because other objects depend on it: keys .*access request 3 of the app Own app/,
    );
    const again = await startDemo(directory);
    await callAll(directory);
    assert.equal((await again.ask('DELETE', `/api/keys/${created.body.key_id}`)).status, 200);
    assert.equal((await again.ask('DELETE', `/portal-api/apps/${app.body.ID}`)).status, 200);
    await again.stop();
    const { code, out, err } = await removeDemo(directory);
    assert.equal(code, 0, err);
    assert.equal(out, 'The demo is removed. What is not part of it stays: 1 webhook.\n');
  });

  test('on PostgreSQL and Redis the demo is created, called and removed', async () => {
    const directory = fresh();
    const database = await testPostgres();
    const environment = { GW_DATABASE_URL: database.url, GW_REDIS_URL: await testRedis() };
    const child = await startDemo(directory, environment);
    await callAll(directory);
    await child.stop();
    const again = await startDemo(fresh(), {
      ...environment,
      GW_MASTER_KEY: readFileSync(join(directory, 'master.key'), 'utf8'),
    });
    assert.equal((await call(again, '/shop/orders', readDemo(directory).keys[0]!.key)).status, 200);
    await again.stop();
    const removed = await removeDemo(directory, environment);
    assert.deepEqual([removed.code, removed.out], [0, 'The demo is removed.\n'], removed.err);
    await database.drop();
  });
});
