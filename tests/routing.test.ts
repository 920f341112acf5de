import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { startApp, type TestApp } from './support/app.ts';
import { type Definition, openApi, publish } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

describe('Routing', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite'), startUpstream()]);
  });
  after(async () => {
    await app.close();
    await upstream.close();
  });

  /** An API whose upstream path names it. */
  const createNamedApi = (name: string, listen_path: string, more: Record<string, unknown> = {}) => {
    const { proxy, ...rest } = more as { proxy?: object };
    return openApi(upstream, { ...rest, proxy: { listen_path, target_url: `${upstream.url}/${name}`, ...proxy } });
  };
  const serve = async (...apis: Definition[]) => {
    for (const api of apis) await publish(app, api);
  };
  /** Where a path, sent as it is, arrives: the upstream's path, or the status. */
  const reaches = (path: string, host = '127.0.0.1') =>
    new Promise<string | number>((resolve, reject) => {
      const asked = request(app.url.gateway, { path, agent: false, headers: { host } }, response => {
        let text = '';
        response.on('data', chunk => (text += chunk));
        response.on('end', () => resolve(response.statusCode === 200 ? JSON.parse(text).url : response.statusCode!));
      });
      asked.on('error', reject).end();
    });
  async function expect(rows: readonly (readonly [path: string, reached: string | number, host?: string])[]) {
    for (const [path, reached, host] of rows) assert.equal(await reaches(path, host), reached, `${host ?? ''}${path}`);
  }
  const write = (definition: object) => app.ask('POST', '/api/apis', { body: { api_definition: definition } });

  test('listen paths match whole segments, longest first, in any order of creation', async () => {
    await serve(
      createNamedApi('short', '/app'),
      createNamedApi('long', '/app/long/path'),
      createNamedApi('middle', '/app/long/'),
    );
    await expect([
      ['/app', '/short'],
      ['/app/', '/short'],
      ['/app/x', '/short/x'],
      ['/apple', 404],
      ['/app/longer', '/short/longer'],
      ['/app/long', '/short/long'],
      ['/app/long/', '/middle'],
      ['/app/long/pat', '/middle/pat'],
      ['/app/long/path/x/', '/long/x/'],
      ['/nothing', 404],
    ]);
  });

  test('path parameters match one segment by their pattern, and literal segments take precedence', async () => {
    await serve(
      createNamedApi('open', '/shop/{tenant}/items'),
      createNamedApi('digits', '/shop/{id:[0-9]+}/things'),
      createNamedApi('fixed', '/shop/main'),
      createNamedApi('kept', '/kept/{tenant}', { proxy: { strip_listen_path: false } }),
    );
    await expect([
      ['/shop/acme/items/7', '/open/7'],
      ['/shop/acme/more/items', 404],
      ['/shop/12/things', '/digits'],
      ['/shop/twelve/things', 404],
      ['/shop/main/x', '/fixed/x'],
      ['/shop/main/items/x', '/fixed/items/x'],
      ['/kept/acme/x', '/kept/kept/acme/x'],
    ]);
  });

  test('a domain has its own routes, matched case-insensitively and without port', async () => {
    const domain = `${createPublicId()}.example`;
    await serve(
      createNamedApi('anywhere', '/where'),
      createNamedApi('domain', '/where', { domain }),
      createNamedApi('dotted', '/dotted', { domain: `${domain.toUpperCase()}.` }),
      createNamedApi('off', '/off', { domain: `off.${domain}`, domain_disabled: true }),
      createNamedApi('tenant', '/where', { domain: `{tenant}.${domain}` }),
    );
    await expect([
      ['/where', '/anywhere'],
      ['/where', '/anywhere', 'other.test'],
      ['/where', '/domain', domain],
      ['/where', '/domain', `${domain.toUpperCase()}:8080`],
      ['/where', '/domain', `${domain}.`],
      ['/dotted', '/dotted', domain],
      ['/dotted', 404],
      ['/where', '/tenant', `acme.${domain}`],
      ['/where', '/anywhere', `a.b.${domain}`],
      ['/off', '/off', 'other.test'],
    ]);
  });

  test('equivalent paths are one route, in definitions and in requests', async () => {
    await serve(
      createNamedApi('bare', 'bare/inner'),
      createNamedApi('double', '//double///inner'),
      createNamedApi('wide', '/café'),
    );
    await expect([
      ['/bare/inner', '/bare'],
      ['//bare//inner//x', '/bare/x'],
      ['/bare/./inner/y/../x', '/bare/x'],
      ['/%62are/inner/x', '/bare/x'],
      ['/double/inner/x', '/double/x'],
      ['/caf%c3%a9/x', '/wide/x'],
      ['/caf%C3%A9', '/wide'],
    ]);
  });

  test('a route in use is refused when written, and keeps its API', async () => {
    const domain = `${createPublicId()}.example`;
    await serve(createNamedApi('first', '/taken/{id}'), createNamedApi('first', '/taken', { domain }));
    const same = [
      createNamedApi('second', 'taken/{other}/'),
      createNamedApi('second', '/taken//{id}'),
      createNamedApi('second', '/taken/', { domain: domain.toUpperCase() }),
      createNamedApi('second', '/taken/{id}', { active: false }),
    ];
    for (const definition of same) {
      const { status, text } = await write(definition);
      assert.equal(status, 409, text);
    }
    assert.equal((await write(createNamedApi('third', '/taken/{id}', { domain: `other.${domain}` }))).status, 200);
    await expect([['/taken/7/x', '/first/x']]);
  });

  test('an inactive or internal API has no route, and follows changes of its definition', async () => {
    const inactive = createNamedApi('inactive', `/${createPublicId()}`, { active: false });
    const internal = createNamedApi('internal', `/${createPublicId()}`, { internal: true });
    await serve(inactive, internal);
    const path = (api: Definition) => api.proxy.listen_path;
    await expect([
      [path(inactive), 404],
      [path(internal), 404],
    ]);
    await app.ask('PUT', `/api/apis/${inactive.api_id}`, { body: { api_definition: { ...inactive, active: true } } });
    await app.ask('PUT', `/api/apis/${internal.api_id}`, {
      body: { api_definition: { ...internal, internal: false } },
    });
    await app.application.waitForDataPlane();
    await expect([
      [path(inactive), '/inactive'],
      [path(internal), '/internal'],
    ]);
  });

  test('an API that moves releases its old route immediately', async () => {
    const [from, to] = [`/${createPublicId()}`, `/${createPublicId()}`];
    const mover = createNamedApi('mover', from);
    await serve(mover);
    const moved = { ...mover, proxy: { ...mover.proxy, listen_path: to } };
    await app.ask('PUT', `/api/apis/${mover.api_id}`, { body: { api_definition: moved } });
    await serve(createNamedApi('next', from));
    await expect([
      [from, '/next'],
      [to, '/mover'],
    ]);
  });

  test('a name shared by several APIs resolves while one of them exists', async () => {
    const name = `Twin ${createPublicId()}`;
    const twins = [
      createNamedApi('one', '', { name, internal: true }),
      createNamedApi('two', '', { name, internal: true }),
    ];
    await serve(...twins);
    const outer = openApi({ url: `gw://${name.toLowerCase().replace(' ', '-')}` });
    const url = new URL(await publish(app, outer));
    for (const twin of twins) {
      assert.match(String(await reaches(`${url.pathname}/x`)), /^\/(one|two)\/x$/);
      await app.ask('DELETE', `/api/apis/${twin.api_id}`);
      await app.application.waitForDataPlane();
    }
    assert.equal(await reaches(`${url.pathname}/x`), 500);
  });

  test('an inactive API is not reachable by gw://, and another one of the same name is', async () => {
    const name = `Sleeper ${createPublicId()}`;
    const off = createNamedApi('off', '', { name, internal: true, active: false });
    await serve(off);
    const loopsTo = async (id: string) => new URL(await publish(app, openApi({ url: `gw://${id}` }))).pathname;
    const [byId, byName] = [await loopsTo(off.api_id), await loopsTo(name.toLowerCase().replace(' ', '-'))];
    await expect([
      [`${byId}/x`, 500],
      [`${byName}/x`, 500],
    ]);
    await serve(createNamedApi('on', '', { name, internal: true }));
    await expect([
      [`${byId}/x`, 500],
      [`${byName}/x`, '/on/x'],
    ]);
  });

  test('a trailing slash and the target path are kept as defined', async () => {
    const at = (target: string, more: object = {}) =>
      openApi(upstream, { proxy: { target_url: upstream.url + target, ...more } });
    const rows = [
      [at('/base/'), '', '/base'],
      [at('/base/', { disable_strip_slash: true }), '', '/base/'],
      [at('/base/', { disable_strip_slash: true }), '/', '/base/'],
      [at('/base/'), '/x/', '/base/x/'],
      [at('/base?own=1'), '/x?q=a%20b&own=2', '/base/x?own=1&q=a%20b&own=2'],
    ] as const;
    for (const [definition, asked, reached] of rows) {
      const url = new URL(await publish(app, definition));
      assert.equal(await reaches(url.pathname + asked), reached, asked);
    }
  });
});
