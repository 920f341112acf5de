import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonPath } from '#base/json-tree.ts';
import { isObject, isZeroValue, objectOrEmpty, textOrEmpty } from '#base/json-tree.ts';
import type { SchemeKind } from './facets/schemes.ts';
import { schemeKinds } from './facets/schemes.ts';
import type { Anchors } from './read-fields.ts';
import type { OasDefinition } from './wire-types.ts';

/**
 * Security schemes. The OpenAPI component gives the kind of a scheme and some of its settings: where a key is sent,
 * which grants are offered. These functions merge components into entries, and build components from them.
 */
export const schemesPath: JsonPath = ['server', 'authentication', 'securitySchemes'];

export function schemeKindOf(component: JsonObject, entry: JsonObject): SchemeKind | undefined {
  const scheme = textOrEmpty(component.scheme).toLowerCase();
  if (component.type === 'apiKey') return 'token';
  if (component.type === 'http' && scheme === 'basic') return 'basic';
  if (component.type === 'http' && scheme === 'bearer')
    return textOrEmpty(component.bearerFormat).toUpperCase() === 'JWT' ? 'jwt' : undefined;
  if (component.type !== 'oauth2') return undefined;
  if ('scopeCheck' in entry || 'protectedResourceMetadata' in entry || 'tokenExchange' in entry) return 'oauth2';
  return Array.isArray(entry.providers) ? 'externalOAuth' : 'oauth';
}

/**
 * Entry that represents each kind: the first enabled one that is required, else the first enabled one, else the first.
 */
export function findSchemeAnchors(document: OasDefinition): Anchors {
  const components = objectOrEmpty(document.components?.securitySchemes);
  const entries = objectOrEmpty(objectOrEmpty(document['x-gw-api-gateway'].server?.authentication).securitySchemes);
  const [first] = Array.isArray(document.security) ? document.security : [];
  const rankOf = (name: string) =>
    objectOrEmpty(entries[name]).enabled === true ? (first && name in first ? 2 : 1) : 0;
  const names: Record<string, string> = {};
  for (const [name, entry] of Object.entries(entries)) {
    const kind = schemeKindOf(objectOrEmpty(components[name]), objectOrEmpty(entry));
    if (!kind) continue;
    const other = names[kind];
    if (other === undefined || rankOf(name) > rankOf(other)) names[kind] = name;
  }
  return Object.fromEntries(
    schemeKinds.map(kind => [`@${kind}`, names[kind] === undefined ? null : [...schemesPath, names[kind]]]),
  );
}

const grantOfFlow: Record<string, string> = {
  authorizationCode: 'authorization_code',
  clientCredentials: 'client_credentials',
  password: 'password',
  implicit: 'implicit',
};

/** Gateway extension merged with the security schemes of the OpenAPI components. */
export function mergeComponents(document: OasDefinition): JsonObject {
  const extension = structuredClone(document['x-gw-api-gateway']) as JsonObject;
  const components = objectOrEmpty(document.components?.securitySchemes);
  const entries = objectOrEmpty(objectOrEmpty(objectOrEmpty(extension.server).authentication).securitySchemes);
  for (const [name, entry] of Object.entries(entries))
    if (isObject(entry)) fillFromComponent(entry, objectOrEmpty(components[name]));
  normalizeDiscoveryCache(extension);
  return extension;
}

/** Older notation: a discovery cache timeout that was also the switch. */
function normalizeDiscoveryCache(extension: JsonObject): void {
  const { serviceDiscovery, uptimeTests, test } = objectOrEmpty(extension.upstream);
  for (const block of [
    serviceDiscovery,
    objectOrEmpty(uptimeTests).serviceDiscovery,
    objectOrEmpty(test).serviceDiscovery,
  ])
    if (isObject(block) && !isObject(block.cache) && Number(block.cacheTimeout) > 0)
      block.cache = { enabled: true, timeout: block.cacheTimeout };
}

const places = ['header', 'query', 'cookie'] as const;
const isPlace = (value: unknown): value is (typeof places)[number] => places.some(place => place === value);

function fillFromComponent(entry: JsonObject, component: JsonObject): void {
  const kind = schemeKindOf(component, entry);
  if (kind === 'token' && isPlace(component.in)) entry[component.in] ??= { enabled: true, name: component.name ?? '' };
  if (kind === 'oauth' && isZeroValue(entry.allowedAccessTypes))
    entry.allowedAccessTypes = Object.keys(objectOrEmpty(component.flows)).flatMap(flow => grantOfFlow[flow] ?? []);
}

/** Removes settings that the component already has. */
export function omitComponentSettings(entry: JsonObject, component: JsonObject): void {
  const bare: JsonObject = { ...entry, allowedAccessTypes: undefined };
  if (isPlace(component.in)) bare[component.in] = undefined;
  fillFromComponent(bare, component);
  for (const name of ['header', 'query', 'cookie', 'allowedAccessTypes'])
    if (entry[name] !== undefined && isDeepStrictEqual(entry[name], bare[name]) && isInComponent(name, component))
      delete entry[name];
}

const isInComponent = (name: string, component: JsonObject) => name === component.in || name === 'allowedAccessTypes';

/** Builds the OpenAPI component of a generated entry. */
export function buildComponent(kind: SchemeKind, entry: JsonObject): JsonObject {
  if (kind === 'jwt') return { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };
  if (kind === 'basic') return { type: 'http', scheme: 'basic' };
  if (kind !== 'token') return { type: 'oauth2', flows: buildFlows(entry) };
  const place =
    (['header', 'query', 'cookie'] as const).find(name => objectOrEmpty(entry[name]).enabled === true) ?? 'header';
  const fallback = textOrEmpty(objectOrEmpty(entry.header).name) || 'Authorization';
  return { type: 'apiKey', in: place, name: textOrEmpty(objectOrEmpty(entry[place]).name) || fallback };
}

function buildFlows(entry: JsonObject): JsonObject {
  const types = Array.isArray(entry.allowedAccessTypes) ? entry.allowedAccessTypes : [];
  const flows: JsonObject = {};
  for (const [flow, grant] of Object.entries(grantOfFlow)) {
    if (!types.includes(grant)) continue;
    const authorization =
      flow === 'authorizationCode' || flow === 'implicit' ? { authorizationUrl: '/oauth/authorize' } : {};
    flows[flow] = { ...authorization, ...(flow === 'implicit' ? {} : { tokenUrl: '/oauth/token' }), scopes: {} };
  }
  return flows;
}
