import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../../tests/support/app.ts';
import { openApi, publish, waitUntilApplied } from '../../tests/support/traffic.ts';
import { eventually, startUpstream, type Upstream } from '../../tests/support/upstream.ts';
import type { ClientCommand } from './command.ts';
import { commandTable } from './command-table.ts';

describe('gw status, explain and logs', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite'), startUpstream()]);
  });
  after(() => Promise.all([app?.close(), upstream?.close()]));

  const fromDirectory = () => ({ GW_DATA_DIR: app.directory, GW_GATEWAY_URL: app.url.gateway });
  async function run(
    name: string,
    args: readonly string[],
    environment: Record<string, string> = fromDirectory(),
    onPrint: () => void = () => undefined,
  ): Promise<string> {
    let printed = '';
    const print = (text: string) => {
      printed += text;
      onPrint();
    };
    const command: ClientCommand = commandTable.get(name)!;
    await command.run(args, { environment, print });
    return printed;
  }

  test('status shows health, revision, threads and the APIs that are not served', async () => {
    const inactive = openApi(upstream, { active: false });
    await app.ask('POST', '/gw/apis', { body: inactive });
    await waitUntilApplied(app);
    const printed = await run('status', []);
    assert.match(printed, /^Health: pass, version \d/);
    assert.match(printed, /^Revision: \d+$/m);
    assert.match(printed, /^Threads: \d+, (all current|\d+ behind)$/m);
    assert.match(printed, new RegExp(`^  ${inactive.api_id} .* the API is inactive$`, 'm'));
    assert.match(
      printed,
      /^Processes: 1\n {2}HOST +ID +ROLE +STATE +VERSION +REVISION +THREADS +MEMORY +REQUESTS\/S +LOOP DELAY +STORES +CLOCK +LAST CONTACT$/m,
    );
    assert.match(printed, /^ {2}\S+ +\S+ +all +(running|behind) +\S+ +\d+ +1\/1 +\d+ MB +[\d.]+ +[\d.]+ ms +/m);
    await eventually(async () =>
      assert.match(await run('status', []), / +database [\d.]+ ms +[+-]?\d+ ms +\d{4}-\S+$/m),
    );
    const status = JSON.parse(await run('status', ['-o', 'json']));
    assert.ok(status.revision > 0 && status.threads.length > 0);
    assert.ok(status.threads.every((thread: { not_served: number }) => thread.not_served >= 1));
    await assert.rejects(run('status', [], { GW_URL: app.url.dashboard, GW_SECRET: 'wrong' }), /rejects the secret/);
    const fixed = { GW_URL: app.url.dashboard, GW_DATA_DIR: '/nonexistent' };
    assert.match(
      await run('status', [], { ...fixed, GW_GATEWAY_SECRET: app.credentials.gateway_secret }),
      /^Processes: 1$/m,
    );
    await assert.rejects(run('status', [], fixed), /secret is missing/);
    await assert.rejects(run('status', ['more']), /status takes no words/);
  });

  test('status of a process without a data plane has no threads', async t => {
    const dashboard = await startApp('sqlite', { settings: { role: 'dashboard' } });
    t.after(() => dashboard.close());
    const printed = await run('status', [], { GW_DATA_DIR: dashboard.directory });
    assert.match(printed, /^Threads: 0, all current\nAPIs: 0, 0 not served$/m);
    assert.match(printed, /^ {2}\S+ +\S+ +dashboard +running +\S+ +- +0\/0 /m);
  });

  test('explain prints the decision of each step, and sends the secret to the gateway only', async () => {
    const url = await publish(
      app,
      openApi(upstream, { use_keyless: false, use_standard_auth: true, auth_configs: { authToken: {} } }),
    );
    const { pathname } = new URL(url);
    const printed = await run('explain', [pathname]);
    assert.match(printed, /^401 Unauthorized\nSTEP +MS +DECISION\n/);
    assert.match(printed, /^token +.*refused with 401/m);
    const explained = JSON.parse(await run('explain', [url, '-o', 'json', '-X', 'POST', '-d', 'x', '-H', 'X-A: b']));
    assert.equal(explained.status, 401);
    assert.ok(explained.steps.length > 1);
    await assert.rejects(
      run('explain', [`${upstream.url}/x`]),
      /is not the gateway .* the secret is sent to the gateway only/,
    );
    await assert.rejects(run('explain', ['/x', '-H', 'none']), /-H none has no colon/);
    await assert.rejects(
      run('explain', ['/x'], { GW_URL: app.url.dashboard, GW_SECRET: 'x', GW_DATA_DIR: '/nonexistent' }),
      /URL of the gateway is missing/,
    );
    await assert.rejects(
      run('explain', ['/x'], { GW_URL: app.url.dashboard, GW_SECRET: 'wrong', GW_GATEWAY_URL: app.url.gateway }),
      /did not explain the request/,
    );
  });

  test('logs prints recent requests, and follows those that come', async () => {
    const definition = openApi(upstream);
    const url = await publish(app, definition);
    const { pathname } = new URL(url);
    const ofApi = ['--api', definition.api_id, '--limit', '1'];
    // The stream starts after the newest request: requests go on until one is printed.
    let isEnded = false;
    const following = run('logs', ['--follow', ...ofApi, '-o', 'json'], fromDirectory(), () => {
      isEnded = true;
    });
    following.catch(() => {
      isEnded = true;
    });
    while (!isEnded) {
      await (await fetch(url)).arrayBuffer();
      await new Promise(resolve => setTimeout(resolve, 100));
    }
    const call = JSON.parse(await following);
    assert.deepEqual([call.method, call.raw_path, call.response_code], ['GET', pathname, 200]);
    const recent = await run('logs', ofApi);
    assert.match(recent, new RegExp(`^\\S+ 200 GET ${pathname} \\d+ms .+\n$`));
    await assert.rejects(run('logs', ['--limit', 'x']), /--limit takes a number/);
    await assert.rejects(run('logs', ['--limit', '10001']), /--limit is at most 10000 without --follow/);
    for (const flags of [[], ['--follow']]) {
      const environment = { GW_URL: app.url.dashboard, GW_ACCESS_KEY: 'wrong' };
      await assert.rejects(run('logs', flags, environment), /rejects the secret: set GW_ACCESS_KEY/);
    }
  });

  test('logs prints more than one page of recent requests, up to its limit', async () => {
    const definition = openApi(upstream);
    const url = await publish(app, definition);
    const sent = Array.from({ length: 23 }, (_item, index) => `${new URL(url).pathname}/call-${index}`);
    for (const path of sent) await (await fetch(new URL(path, url))).arrayBuffer();
    const list = async (...flags: string[]) =>
      [...(await run('logs', ['--api', definition.api_id, ...flags])).matchAll(/ GET (\S+call-\d+) /g)].map(
        it => it[1]!,
      );
    await eventually(async () => assert.deepEqual((await list()).sort(), sent.toSorted()));
    assert.equal((await list('--limit', '15')).length, 15);
  });

  test('every command prints its help', async () => {
    for (const name of commandTable.keys()) assert.match(await run(name, ['--help']), new RegExp(`^gw ${name}: `));
  });
});
