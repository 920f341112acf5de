import fc from 'fast-check';
import { z } from 'zod';
import { classicSchema } from '#definition/classic.ts';
import { carryOverKey } from '#definition/convert-block.ts';
import { durationText } from '#definition/field-codecs.ts';
import { oasSchema } from '#definition/oas.ts';
import { regexTextRule } from '#definition/rules.ts';
import type { ClassicDefinition, OasDefinition } from '#definition/wire-types.ts';

/** Definitions made from the very schemas that check them, so that a field declared today is tried out today. */
export const definitionArbitrary = (): fc.Arbitrary<ClassicDefinition> =>
  (arbitraryOf(classicSchema) as fc.Arbitrary<ClassicDefinition>).map(lawfulClassic);

export const oasArbitrary = (): fc.Arbitrary<OasDefinition> =>
  (arbitraryOf(oasSchema) as fc.Arbitrary<OasDefinition>).map(lawfulDocument);

/** The same without unknown members: definitions that a write accepts. */
export const withoutUnknown = <T>(definition: T): T =>
  JSON.parse(JSON.stringify(definition, (name, value) => (name === 'x_unknown' ? undefined : value)));

type Bag = Record<string, unknown>;
const words = ['a', 'b-1', 'Key_9', 'x.y', 'some text', '/p/q', 'http://127.0.0.1:9/u', '3.0.3'];
const name = fc.constantFrom('one', 'two', 'Three', 'x-4');
const methodNames = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const;

/** Bags are written by conversions alone. */
const bags: readonly string[] = Object.values(carryOverKey);

/** Set by the operations of MCP proxies alone. */
const protocolMarkers: readonly string[] = ['applicationProtocol', 'application_protocol'];

/** Unknown members can be anywhere: older installations stored them, and a setting admits them. */
const surprise = fc.constantFrom<unknown>(1, 'kept', true, [1, { deep: null }], { nested: { more: [] } });

const known = new Map<z.ZodType, fc.Arbitrary<unknown>>([
  [regexTextRule, fc.constantFrom('', 'a+', '^/v\\d+$', '(x)(y)?')],
  [durationText, fc.constantFrom('1m30s', 'PT1M', '500ms', '2h', '0s')],
]);

export function arbitraryOf(schema: z.ZodType): fc.Arbitrary<unknown> {
  const made = known.get(schema) ?? build(schema);
  known.set(schema, made);
  return made;
}

function build(schema: z.ZodType): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return arbitraryOf(inner(schema));
  if (schema instanceof z.ZodNullable) return fc.option(arbitraryOf(inner(schema)), { freq: 8 });
  if (schema instanceof z.ZodArray) return fc.array(arbitraryOf(schema.element as z.ZodType), { maxLength: 2 });
  if (schema instanceof z.ZodRecord)
    return fc.dictionary(name, arbitraryOf(schema.valueType as z.ZodType), { maxKeys: 2, noNullPrototype: true });
  if (schema instanceof z.ZodObject) return objectOf(schema);
  if (schema instanceof z.ZodUnion) return fc.oneof(...schema.options.map(option => arbitraryOf(option as z.ZodType)));
  if (schema instanceof z.ZodEnum) return fc.constantFrom(...schema.options);
  if (schema instanceof z.ZodLiteral) return fc.constantFrom(...schema.values);
  if (schema instanceof z.ZodBoolean) return fc.boolean();
  if (schema instanceof z.ZodNumber) return numberOf(schema);
  if (schema instanceof z.ZodISODateTime) return fc.constant('2026-01-02T03:04:05Z');
  if (schema instanceof z.ZodString) return fc.constantFrom(...words.filter(text => schema.safeParse(text).success));
  if (schema instanceof z.ZodUnknown) return surprise;
  throw new Error(`no way to make up a ${schema.constructor.name}`);
}

const inner = (schema: { unwrap(): unknown }) => schema.unwrap() as z.ZodType;

function numberOf({ minValue, maxValue, isInt }: z.ZodNumber): fc.Arbitrary<number> {
  const min = Math.max(minValue ?? 0, -1);
  const max = Math.min(maxValue ?? 1000, 1000);
  return isInt || max > 1 ? fc.integer({ min, max }) : fc.constantFrom(0, 0.25, 0.5, 1);
}

function objectOf(schema: z.ZodObject): fc.Arbitrary<unknown> {
  const members = Object.entries(schema.shape as Record<string, z.ZodType>)
    .filter(([key]) => !bags.includes(key) && !protocolMarkers.includes(key))
    .map(([key, member]) => [key, arbitraryOf(member)] as const);
  const required = Object.entries(schema.shape as Record<string, z.ZodType>)
    .filter(([, member]) => !(member instanceof z.ZodOptional))
    .map(([key]) => key);
  const known = fc.record(Object.fromEntries(members), { requiredKeys: required, noNullPrototype: true });
  if (!(schema.def.catchall instanceof z.ZodUnknown)) return known;
  return fc
    .tuple(known, fc.option(surprise, { freq: 3, nil: undefined }))
    .map(([given, unknown]) => (unknown === undefined ? given : { ...given, x_unknown: structuredClone(unknown) }));
}

const bagOf = (value: unknown): Bag => (typeof value === 'object' && value !== null ? (value as Bag) : {});

/** What the schema allows and the laws do not. */
function lawfulClassic(given: ClassicDefinition): ClassicDefinition {
  const definition = { ...given, name: 'An API', api_id: 'an-api', protocol: 'http' } as Bag;
  definition.proxy = {
    ...bagOf(given.proxy),
    listen_path: '/listen/',
    target_url: 'http://127.0.0.1:9/',
    enable_load_balancing: false,
  };
  if (given.definition) definition.definition = { ...given.definition, key: 'x-version' };
  definition.allowed_ips = ['10.0.0.1'];
  definition.blacklisted_ips = ['10.0.0.0/8'];
  for (const config of [...Object.values(bagOf(given.auth_configs)), given.auth])
    if (config) Object.assign(bagOf(config), { disable_header: false });
  const sources = bagOf(bagOf(given.graphql).engine).data_sources;
  if (Array.isArray(sources)) for (const [at, source] of sources.entries()) source.name = `source ${at}`;
  if (given.graphql) definition.graphql = lawfulGraphql(given.graphql);
  if (given.upstream_auth) definition.upstream_auth = { ...bagOf(given.upstream_auth), enabled: false };
  for (const version of Object.values(bagOf(bagOf(given.version_data).versions))) endpointsOf(bagOf(version));
  return definition as ClassicDefinition;
}

const checkedModes: readonly unknown[] = ['executionEngine', 'subgraph', 'supergraph'];

/** The data sources of an enabled data graph, the SDL of a subgraph and subgraphs are checked too: these are drafts. */
function lawfulGraphql(given: object): Bag {
  const block = bagOf(given);
  const isDraft = checkedModes.includes(block.execution_mode);
  return { ...block, schema: 'type Query { a: Int }', ...(isDraft && { enabled: false }) };
}

/** Entries need a path and a method to be about an endpoint. */
function endpointsOf(version: Bag): void {
  let at = 0;
  version.use_extended_paths = true;
  for (const [name, list] of Object.entries(bagOf(version.extended_paths)))
    if (Array.isArray(list) && name !== 'x_unknown')
      for (const entry of list)
        if (typeof entry === 'object')
          Object.assign(bagOf(entry), {
            path: `/e${at % 3}/{id}`,
            method: methodNames[at++ % 5],
            ...('method_actions' in entry && { method_actions: null }),
          });
}

const paths = {
  '/a': { get: { operationId: 'one', responses: {} }, post: { operationId: 'two', responses: {} } },
  '/a/{id}': { get: { operationId: 'Three', responses: {} } },
};
const securitySchemes = {
  one: { type: 'apiKey', in: 'header', name: 'X-Key' },
  two: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  Three: { type: 'http', scheme: 'basic' },
  'x-4': { type: 'oauth2', flows: { clientCredentials: { tokenUrl: '/oauth/token', scopes: {} } } },
};

function lawfulDocument(given: OasDefinition): OasDefinition {
  const extension = given['x-gw-api-gateway'] as Bag;
  const { server, upstream, info } = extension;
  return {
    ...given,
    openapi: '3.0.3',
    paths: structuredClone(paths),
    components: { securitySchemes: structuredClone(securitySchemes) },
    security: [],
    'x-gw-api-gateway': {
      ...extension,
      info: { ...bagOf(info), name: 'An API', versioning: null },
      server: {
        ...bagOf(server),
        protocol: 'http',
        listenPath: { value: '/listen/' },
        ipAccessControl: null,
        authentication: lawfulWaysIn(server),
      },
      upstream: { ...bagOf(upstream), url: 'http://127.0.0.1:9/', loadBalancing: null, authentication: null },
    },
  } as OasDefinition;
}

/** Each authentication method reads at least a header. */
function lawfulWaysIn(server: unknown): Bag {
  const authentication = bagOf(bagOf(server).authentication);
  for (const block of [
    ...Object.values(bagOf(authentication.securitySchemes)),
    authentication.hmac,
    authentication.oidc,
    authentication.custom,
  ])
    Object.assign(bagOf(block), {
      header: { enabled: true, name: 'X-Key' },
      ...('tokenExchange' in bagOf(block) && { tokenExchange: null }),
      ...('protectedResourceMetadata' in bagOf(block) && { protectedResourceMetadata: null }),
    });
  return { ...authentication, protectedResourceMetadata: null, securityProcessingMode: 'legacy' };
}
