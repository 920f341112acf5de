import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import type { JsonObject } from '#base/json-tree.ts';
import { formatMemberPath, isClosed, isNullAbsent } from '#base/members.ts';
import type { CheckResult } from './check-result.ts';
import { checkClassic, classicSchema } from './classic.ts';
import { convertToClassic, convertToOas } from './convert.ts';
import { definitionSchema } from './definition-schema.ts';
import { legacyPlaces } from './legacy-members.ts';
import type { UnknownMembers } from './members.ts';
import { checkOas, oasSchema } from './oas.ts';
import { checkStreams, streamsSchema } from './streams.ts';
import type { OasDefinition } from './wire-types.ts';

type Path = readonly (string | number)[];

/** One object of a form: where it stands, and the members it declares. */
interface Place {
  readonly path: Path;
  readonly shape: Record<string, z.ZodType>;
}

/** Every object of a form that refuses unknown members, below lists and maps too. */
function placesOf(schema: z.ZodType, path: Path = []): Place[] {
  if (schema instanceof z.ZodObject) {
    const shape = schema.shape as Record<string, z.ZodType>;
    const inner = Object.entries(shape).flatMap(([name, member]) => placesOf(member, [...path, name]));
    return isClosed(schema) ? [{ path, shape }, ...inner] : inner;
  }
  if (schema instanceof z.ZodArray) return placesOf(schema.element as z.ZodType, [...path, 0]);
  if (schema instanceof z.ZodRecord) return placesOf(schema.valueType as z.ZodType, [...path, 'any']);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(option => placesOf(option as z.ZodType, path));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return placesOf(schema.unwrap() as z.ZodType, path);
  return [];
}

/** A value that holds only the way to one place. */
function holding([first, ...rest]: Path, value: unknown): unknown {
  if (first === undefined) return value;
  const inner = holding(rest, value);
  return typeof first === 'number' ? [inner] : { [first]: inner };
}

interface FormatCase {
  readonly schema: z.ZodType;
  readonly check: (value: unknown, unknownMembers?: UnknownMembers) => CheckResult<unknown>;
  /** How many objects it has at least, so that a walk that finds none is seen. */
  readonly least: number;
}
const formats: Record<'classic' | 'oas' | 'streams', FormatCase> = {
  classic: { schema: classicSchema, check: checkClassic, least: 100 },
  oas: { schema: oasSchema, check: checkOas, least: 100 },
  streams: { schema: streamsSchema, check: checkStreams, least: 100 },
};

const errorsAt = (checked: CheckResult<unknown>, path: string) =>
  (checked.ok ? [] : checked.errors).filter(error => error.path === path).map(({ message }) => message);

/** A declared name with two letters swapped or one more at the end, such that it is nearest to itself alone. */
const misspelt = (name: string) => `${name}q`;
const isLegacy = (member: z.ZodType) => member.meta()?.deprecated === true;

describe('unknown members of definitions', () => {
  for (const [format, { schema, check, least }] of Object.entries(formats)) {
    const places = placesOf(schema);

    test(`${format}: a misspelt member of any object is rejected with its path and the closest name`, () => {
      assert.ok(places.length >= least, String(places.length));
      for (const { path, shape } of places)
        for (const name of Object.keys(shape).filter(it => it.length > 3 && !isLegacy(shape[it]!))) {
          const wrong = misspelt(name);
          const at = formatMemberPath([...path, wrong]);
          const [message = 'accepted'] = errorsAt(check(holding([...path, wrong], true)), at);
          assert.match(message, /^no such member; did you mean [\w-]+\?$/, `${at}: ${message}`);
          const guess = /mean (.+)\?/.exec(message)![1]!;
          assert.ok(guess in shape, `${at}: ${message}`);
        }
    });

    test(`${format}: null for any optional member is accepted and means absent`, () => {
      for (const { path, shape } of places)
        for (const [name, member] of Object.entries(shape)) {
          if (!isNullAbsent(member)) continue;
          const at = formatMemberPath([...path, name]);
          // What is needed is missing: absent is what null means.
          const errors = errorsAt(check(holding([...path, name], null)), at);
          assert.deepEqual(
            errors.filter(message => message !== 'is required'),
            [],
            at,
          );
        }
    });
  }

  const classic = { name: 'A', proxy: { listen_path: '/a/', target_url: 'http://127.0.0.1:9/' } };
  const extension = {
    info: { name: 'A', state: { active: true } },
    server: { listenPath: { value: '/a/' } },
    upstream: { url: 'http://127.0.0.1:9/' },
  };
  const document = { openapi: '3.0.3', info: { title: 'A', version: '1' }, paths: {}, 'x-gw-api-gateway': extension };
  const withExtension = (more: JsonObject) => ({ ...document, 'x-gw-api-gateway': { ...extension, ...more } });

  test('null members are absent from the checked definition', () => {
    const checked = checkClassic({ ...classic, tags: null, name: null, CORS: { enable: null, max_age: 3 } });
    assert.ok(checked.ok);
    assert.deepEqual(checked.definition, { proxy: classic.proxy, CORS: { max_age: 3 } });
  });

  test('a misplaced member is rejected with a suggestion of its location', () => {
    const listErrors = (checked: CheckResult<unknown>) =>
      checked.ok ? [] : checked.errors.map(it => `${it.path}: ${it.message}`);
    assert.deepEqual(listErrors(checkClassic({ ...classic, custom_middleware_: {} })), [
      'custom_middleware_: no such member; did you mean custom_middleware?',
    ]);
    assert.deepEqual(listErrors(checkClassic({ ...classic, global_ratelimit: { rate: 1, per: 60 } })), [
      'global_ratelimit: no such member; did you mean global_rate_limit?',
    ]);
    assert.deepEqual(listErrors(checkOas(withExtension({ global: {}, components: {} }))), [
      'x-gw-api-gateway.global: no such member; did you mean x-gw-api-gateway.middleware.global?',
      'x-gw-api-gateway.components: no such member; did you mean components?',
    ]);
    assert.deepEqual(listErrors(checkOas(withExtension({ middleware: { mcpTools: { danger: { block: {} } } } }))), [
      'x-gw-api-gateway.middleware.mcpTools: no such member',
    ]);
    const server = { ...extension.server, authentification: { enabled: true } };
    assert.deepEqual(listErrors(checkOas(withExtension({ server }))), [
      'x-gw-api-gateway.server.authentification: no such member; did you mean authentication?',
    ]);
    const get = { responses: {}, 'x-gw-block': true, 'x-gw-permission': 'apis:read', 'x-own': 1 };
    assert.deepEqual(listErrors(checkOas({ ...document, paths: { '/a': { get, 'x-GW-limit': 1 } } })), [
      'paths./a.x-GW-limit: no such member; did you mean x-gw-api-gateway.middleware.operations?',
      'paths./a.get.x-gw-block: no such member; did you mean x-gw-api-gateway.middleware.operations?',
    ]);
    assert.deepEqual(
      listErrors(checkOas({ ...document, 'x-gw-api-gatway': {}, 'X-GW-else': 1, server: {}, 'x-own': 1 })),
      [
        'x-gw-api-gatway: no such member; did you mean x-gw-api-gateway?',
        'X-GW-else: no such member',
        'server: no such member; did you mean x-gw-api-gateway.server?',
      ],
    );
    assert.deepEqual(listErrors(checkClassic({ ...document })), [
      'openapi: is a member of OpenAPI documents, which are written or imported at /gw/apis/oas',
    ]);
  });

  test('members of OpenAPI’s own objects are not checked', () => {
    const free = {
      ...document,
      tags: null,
      servers: null,
      security: null,
      sloppy: { at: null },
      'x-own': null,
      info: { ...document.info, extra: null },
    };
    const checked = checkOas(free);
    assert.ok(checked.ok);
    assert.equal(checked.definition, free);
    const config_data = { any: { depth: null } };
    const taken = checkClassic({ ...classic, config_data });
    assert.ok(taken.ok);
    assert.deepEqual((taken.definition as JsonObject).config_data, config_data);
  });

  test('legacy members are kept and reported, and survive conversion both ways', () => {
    const ofEarlierVersions = Object.fromEntries(
      ['driver', 'is_site', ...['expires_at', 'issued_at', 'not_before'].map(it => `jwt_disable_${it}_validation`)].map(
        name => [name, true],
      ),
    );
    const given: JsonObject = {
      ...classic,
      ...ofEarlierVersions,
      check_host_against_uptime_tests: true,
      extended_paths: { cache: ['a'] },
    };
    given.event_handlers = {
      events: {
        QuotaExceeded: [{ handler_name: 'eh_web_hook_handler', handler_meta: { api_model: { a: 1 }, org_id: 'o' } }],
      },
    };
    given.auth_configs = Object.fromEntries(
      ['jwt', 'basic', 'coprocess', 'hmac', 'oauth', 'oidc'].map(mode => [
        mode,
        { validate_signature: true, signature: { secret: 's' }, use_certificate: true },
      ]),
    );
    given.proxy = { ...classic.proxy, transport: { dial_timeout: 3 }, service_discovery: { _sd_show_port_path: true } };
    const checked = checkClassic(given);
    assert.ok(checked.ok);
    assert.equal(checked.definition, given);
    const listed = (checked.warnings ?? []).map(({ path }) => path);
    const places = legacyPlaces.classic.flatMap(({ path, names }) => names.map(name => [...path, name].join('.')));
    const handler = 'event_handlers.events.QuotaExceeded[0].handler_meta';
    assert.deepEqual(listed.toSorted(), [...places, `${handler}.api_model`, `${handler}.org_id`].toSorted());
    const home = convertToClassic(convertToOas(checked.definition)) as JsonObject;
    assert.partialDeepStrictEqual(home.auth_configs, given.auth_configs);
    assert.deepEqual((home.proxy as JsonObject).transport, { dial_timeout: 3 });
  });

  test('members that exporters add to every definition are accepted without a warning', () => {
    const config = { auth_header_name: 'Authorization', use_certificate: false, validate_signature: false };
    const subgraph = { api_id: 'a', name: 'A', sse_use_post: true };
    const exported = {
      ...classic,
      auth_configs: { jwt: { ...config, signature: { secret: '', allowed_clock_skew: 0 } } },
      graphql: { enabled: false, proxy: { sse_use_post: false }, supergraph: { subgraphs: [subgraph] } },
    };
    assert.deepEqual(checkClassic(exported), { ok: true, definition: exported });
    const postPlugins = [{ enabled: false, functionName: 'f', name: '', path: 'p' }];
    const operations = { read: { postPlugins } };
    const paths = { '/a': { get: { operationId: 'read', responses: {} } } };
    const written = {
      ...withExtension({ server: { ...extension.server, slug: '' }, middleware: { operations } }),
      paths,
    };
    assert.deepEqual(checkOas(written), { ok: true, definition: written });
    const slug = withExtension({ server: { ...extension.server, slug: 'a' } });
    assert.deepEqual(checkOas(slug), {
      ok: true,
      definition: slug,
      warnings: [{ path: 'x-gw-api-gateway.server.slug', message: 'legacy member: kept, without effect' }],
    });
    assert.partialDeepStrictEqual(convertToOas(convertToClassic(slug as OasDefinition)), slug);
  });

  test('unknown members are kept and reported where the setting allows them', () => {
    const given = { ...classic, use_keylss: true };
    const checked = checkClassic(given, 'warn');
    assert.deepEqual(checked, {
      ok: true,
      definition: given,
      warnings: [{ path: 'use_keylss', message: 'no such member; did you mean use_keyless?' }],
    });
    const streams = { 'x-gw-api-gateway': extension, 'x-gw-streaming': { streams: { one: { inptu: {} } } } };
    assert.equal(checkStreams(streams).ok, false);
    assert.equal(checkStreams(streams, 'warn').ok, true);
  });

  test('a quoted number, or an unquoted text, is rejected with the expected type', () => {
    const checkMembers = (value: unknown) => {
      const checked = checkClassic({ ...classic, ...(value as JsonObject) });
      return checked.ok ? '' : checked.errors.map(it => `${it.path}: ${it.message}`).join();
    };
    assert.equal(checkMembers({ session_lifetime: '10' }), 'session_lifetime: must be a number');
    assert.equal(checkMembers({ slug: 10 }), 'slug: must be a string');
    const upstream = { ...extension.upstream, rateLimit: { enabled: true, rate: 5, per: 10 } };
    const limited = checkOas(withExtension({ upstream }));
    assert.deepEqual(errorsAt(limited, 'x-gw-api-gateway.upstream.rateLimit.per'), [
      'must be a text in quotes, a duration such as 1m30s',
    ]);
  });

  test('a definition without unknown members has none after conversion to the other format', () => {
    const document = convertToOas(classic) as OasDefinition;
    assert.ok(checkOas(document).ok);
    assert.ok(checkClassic(convertToClassic(document)).ok);
  });
});

describe('published JSON Schemas', () => {
  const objectOf = (schema: JsonObject): JsonObject =>
    schema.properties ? schema : (schema.anyOf as JsonObject[]).find(option => option.properties)!;
  const member = (schema: JsonObject, name: string) => (objectOf(schema).properties as JsonObject)[name] as JsonObject;

  test('published schemas close objects that reject unknown members, and leave the document open', () => {
    const classic = definitionSchema('classic');
    assert.equal(classic.additionalProperties, false);
    assert.equal(objectOf(member(classic, 'proxy')).additionalProperties, false);
    assert.equal(member(classic, 'extended_paths').deprecated, true);
    assert.deepEqual(member(member(classic, 'proxy'), 'listen_path').type, ['string', 'null']);
    const oas = definitionSchema('oas');
    assert.notEqual(oas.additionalProperties, false);
    assert.equal(objectOf(member(oas, 'x-gw-api-gateway')).additionalProperties, false);
  });
});
