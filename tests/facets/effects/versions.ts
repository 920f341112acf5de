import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json-tree.ts';
import type { Effect, Ground, Served } from '../effect.ts';

/** Which version of an API serves a call. */

/** An API that serves a version of another one, in the same format; its upstream path identifies it. */
async function child({ app, upstream, id, format }: Ground, name: string): Promise<string> {
  const own = `${id}-${name}`;
  const url = `${upstream.url}/${name}`;
  const [path, body] =
    format === 'classic'
      ? [
          '/gw/apis',
          {
            name: own,
            api_id: own,
            active: true,
            internal: true,
            use_keyless: true,
            version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
            proxy: { listen_path: `/${own}`, target_url: url, strip_listen_path: true },
          },
        ]
      : [
          '/gw/apis/oas',
          {
            openapi: '3.0.3',
            info: { title: own, version: '1' },
            paths: {},
            'x-gw-api-gateway': {
              info: { id: own, name: own, state: { active: true, internal: true } },
              server: { listenPath: { value: `/${own}`, strip: true } },
              upstream: { url },
            },
          },
        ];
  const { status, text } = await app.ask('POST', path as string, { body });
  assert.equal(status, 200, text);
  return own;
}

/** The same words in both formats. */
const saying = (words: (at: Ground) => Promise<JsonObject> | JsonObject): Pick<Effect, 'classic' | 'oas'> => ({
  classic: async at => {
    const { versions, ...rest } = (await words(at)) as JsonObject & { versions: Record<string, string> };
    return { definition: { ...snake(rest), versions } };
  },
  oas: async at => {
    const { versions, ...rest } = (await words(at)) as JsonObject & { versions: Record<string, string> };
    return {
      x: { info: { versioning: { ...rest, versions: Object.entries(versions).map(([name, id]) => ({ name, id })) } } },
    };
  },
});
const snake = (bag: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(bag).map(([name, value]) => [name.replaceAll(/[A-Z]/g, it => `_${it.toLowerCase()}`), value]),
  );

async function reaches({ call }: Served, path: string, headers: Record<string, string>, expected: string | number) {
  const { status, body } = await call(path, { headers });
  assert.equal(status === 200 ? body.url : status, expected);
}

export const versions: readonly Effect[] = [
  {
    rows: 'versioning.enabled,name,default,location,key,versions',
    promise: 'a header selects the API of a version, and the default serves without it',
    ...saying(async at => ({
      enabled: true,
      name: 'base',
      default: 'self',
      location: 'header',
      key: 'x-version',
      versions: { two: await child(at, 'two') },
    })),
    async observe(at) {
      await reaches(at, '/thing', {}, '/thing');
      await reaches(at, '/thing', { 'x-version': 'base' }, '/thing');
      await reaches(at, '/thing', { 'x-version': 'two' }, '/two/thing');
      assert.notEqual((await at.call('/thing', { headers: { 'x-version': 'three' } })).status, 200);
      const own = await fetch(`${at.app.url.gateway}/${at.id}-two/thing`);
      assert.equal(own.status, 404, 'an internal API has no route of its own');
    },
  },
  {
    rows: 'versioning.stripVersioningData,fallbackToDefault',
    promise: 'the version is stripped from the path, and an unknown one falls back to the default',
    ...saying(async at => ({
      enabled: true,
      name: 'base',
      default: 'two',
      location: 'url-param',
      key: 'v',
      stripVersioningData: true,
      fallbackToDefault: true,
      versions: { two: await child(at, 'two') },
    })),
    async observe(at) {
      await reaches(at, '/thing?a=1&v=two', {}, '/two/thing?a=1');
      await reaches(at, '/thing?v=unknown', {}, '/two/thing');
    },
  },
  {
    rows: 'versioning.urlVersioningPattern',
    promise: 'only a segment that matches the version pattern is a version',
    ...saying(async at => ({
      enabled: true,
      name: 'base',
      default: 'self',
      location: 'url',
      key: '',
      stripVersioningData: true,
      fallbackToDefault: true,
      urlVersioningPattern: '^v[0-9]+$',
      versions: { v2: await child(at, 'v2') },
    })),
    async observe(at) {
      await reaches(at, '/v2/thing', {}, '/v2/thing');
      await reaches(at, '/video/thing', {}, '/video/thing');
    },
  },
  {
    rows: 'versionData.notVersioned,defaultVersion version.name,expires,overrideTarget',
    promise: 'versions of one definition have their own targets and expiry',
    classic: ({ upstream }) => ({
      definition: { location: 'header', key: 'x-version' },
      version_data: {
        not_versioned: false,
        default_version: 'one',
        versions: {
          Default: { name: 'Default', expires: '' },
          one: { name: 'one', override_target: `${upstream.url}/one` },
          old: { name: 'old', expires: '2020-01-01 00:00', override_target: `${upstream.url}/old` },
        },
      },
    }),
    async observe(at) {
      await reaches(at, '/thing', {}, '/one/thing');
      await reaches(at, '/thing', { 'x-version': 'Default' }, '/thing');
      await reaches(at, '/thing', { 'x-version': 'old' }, 403);
    },
  },
  {
    rows: 'identity.slug',
    promise: 'the slug before a version in the path is skipped',
    classic: () => ({
      slug: 'shop',
      definition: { location: 'url', key: '', strip_versioning_data: true },
      version_data: { not_versioned: false, versions: { Default: { name: 'Default' }, v1: { name: 'v1' } } },
    }),
    async observe(at) {
      assert.equal((await at.call('/shop/v1/thing')).status, 200);
      assert.equal((await at.call('/other/v1/thing')).status, 403);
    },
  },
  {
    rows: 'identity.internal',
    promise: 'an internal API has no route of its own',
    classic: () => ({ internal: true }),
    oas: () => ({ x: { info: { state: { internal: true } } } }),
    async observe({ call, upstream }) {
      assert.equal((await call()).status, 404);
      assert.equal(upstream.requests.length, 0);
    },
  },
  {
    rows: 'identity.expiration',
    promise: 'an API that has expired refuses its calls',
    classic: () => ({ expiration: '2020-01-01 00:00' }),
    oas: () => ({ x: { info: { expiration: '2020-01-01 00:00' } } }),
    async observe({ call, upstream }) {
      assert.equal((await call()).status, 403);
      assert.equal(upstream.requests.length, 0);
    },
  },
  {
    rows: 'identity.id,name,orgId,databaseId',
    promise: 'an API is known by its id and its name, in its organisation',
    classic: async ({ id, app }) => ({
      api_id: id,
      id: 'a'.repeat(24),
      name: `Named ${id}`,
      org_id: await ownOrg(app),
    }),
    oas: async ({ id, app }) => ({
      x: { info: { id, dbId: 'b'.repeat(24), name: `Named ${id}`, orgId: await ownOrg(app) } },
    }),
    async observe({ app, id, format }) {
      const { status, body } = await app.ask('GET', format === 'classic' ? `/gw/apis/${id}` : `/gw/apis/oas/${id}`);
      assert.equal(status, 200);
      const info = format === 'classic' ? body : body['x-gw-api-gateway'].info;
      assert.equal(info.name, `Named ${id}`);
    },
  },
];

async function ownOrg(app: Ground['app']): Promise<string> {
  const { body } = await app.ask('GET', '/admin/organisations');
  return body.organisations[0].id as string;
}
