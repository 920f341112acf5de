import { getAt, isObject } from '#base/json-tree.ts';
import { formatMemberPath } from '#base/members.ts';
import { isAddressRange, openFaults, portFaults } from './classic-validation.ts';
import { facets } from './definition.ts';
import { createSuggester } from './document-names.ts';
import { idOf, methods, pathItemsOf } from './endpoints/paths.ts';
import type { Facet } from './facet.ts';
import type { Model } from './model.ts';
import type { OasDefinition } from './oas.ts';
import { metadataFaults, oauth2Faults } from './oauth2-validation.ts';
import { readFacet } from './read-fields.ts';
import { unnamedSchemes } from './security-requirements.ts';
import { schemeAnchorsOf } from './security-schemes.ts';
import type { Fault } from './validation-error.ts';

/** What a document must keep to beyond the shape of its members. */
type Bag = Record<string, unknown>;
const root = 'x-gw-api-gateway';
const bag = (value: unknown): Bag => (typeof value === 'object' && value !== null ? (value as Bag) : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const missing = (...path: string[]): Fault => ({ path: formatMemberPath([root, ...path]), message: 'is required' });
const said = (value: unknown) => typeof value === 'string' && value.trim() !== '';

/** Members without which there is no API to serve. Wrong types are told by the schema. */
export function extensionLaws(document: Bag): Fault[] {
  const { info, server } = bag(document[root]);
  const faults: Fault[] = [];
  if (info === undefined || info === null) faults.push(missing('info'));
  else if (needed(bag(info).name)) faults.push(missing('info', 'name'));
  if (server === undefined || server === null) faults.push(missing('server'));
  else if (!isBare(bag(server).protocol) && !isInternal(info) && needed(bag(bag(server).listenPath).value))
    faults.push(missing('server', 'listenPath', 'value'));
  else if (/\s/.test(String(bag(bag(server).listenPath).value)))
    faults.push({ path: `${root}.server.listenPath.value`, message: 'must not hold spaces' });
  return faults;
}

/** Whether the document names no upstream; whether it needs one is told by the model. */
export function upstreamLaw(document: Bag): Fault[] {
  const { upstream } = bag(document[root]);
  if (upstream === undefined || upstream === null) return [missing('upstream')];
  return needed(bag(upstream).url) && bag(upstream).loadBalancing === undefined ? [missing('upstream', 'url')] : [];
}

/** Internal APIs are reached by loops, which name them by their id. */
const isInternal = (info: unknown) => bag(bag(info).state).internal === true;

/** Services of bare connections have a port and no path. */
const isBare = (protocol: unknown) => protocol === 'tcp' || protocol === 'tls';

const ownPort = ({ protocol, port }: Bag): Fault[] =>
  isBare(protocol) && !port ? [{ path: `${root}.server.port`, message: `is needed by a ${protocol} service` }] : [];

const needed = (value: unknown) => value === undefined || value === null || (typeof value === 'string' && !said(value));

export function documentLaws(document: OasDefinition): Fault[] {
  const { server, upstream, info } = document[root];
  return [
    ...securityNames(document),
    ...openFaults(`${root}.server.listenPath.value`, server.listenPath?.value, '/'),
    ...openFaults(`${root}.server.customDomain.name`, bag(server.customDomain).name, ''),
    ...portFaults(`${root}.server.customDomain.name`, bag(server.customDomain).name),
    ...ownPort(server),
    ...addresses(bag(server.ipAccessControl)),
    ...balancing(bag(bag(upstream).loadBalancing)),
    ...versionKey(bag(info.versioning)),
    ...sources(bag(server.authentication)),
    ...unnamed(document),
    ...scopeScheme(document),
  ];
}

/** Where requirements are alternatives, a scheme in none of them would keep nobody out. */
function unnamed(document: OasDefinition): Fault[] {
  const { enabled, securityProcessingMode } = bag(document[root].server.authentication);
  if (enabled !== true || securityProcessingMode !== 'compliant') return [];
  const names = unnamedSchemes(document, document[root]);
  if (names.length === 0) return [];
  const what = names.length > 1 ? 'auth methods' : 'auth';
  const fault = `${names.join(', ')} ${what} enabled but not configured in a security requirement`;
  return [{ path: `${root}.server.authentication`, message: `invalid multi-auth configuration: ${fault}` }];
}

function scopeScheme(document: OasDefinition): Fault[] {
  const anchors = schemeAnchorsOf(document);
  const read = (facet: unknown) => readFacet(facet as Facet, 'oas', document[root], anchors);
  const place = `${root}.server.authentication`;
  const name = anchors['@oauth2']?.at(-1);
  const scheme = name === undefined ? [] : oauth2Faults(read(facets.oauth2) as Model['oauth2']);
  const older = read(facets.metadataDocument) as Model['metadataDocument'];
  return [
    ...scheme.map(({ path, message }) => ({ path: `${place}.securitySchemes.${name}.${path}`, message })),
    ...metadataFaults(`${place}.protectedResourceMetadata`, older.enabled, older),
  ];
}

function securityNames({ security, components }: OasDefinition): Fault[] {
  const known = Object.keys(bag(components?.securitySchemes));
  const suggest = createSuggester(known);
  return list(security).flatMap((requirement, at) =>
    Object.keys(bag(requirement))
      .filter(name => !known.includes(name))
      .map(name => ({
        path: `security[${at}]`,
        message: `${name} is not one of components.securitySchemes${suggest(name)}`,
      })),
  );
}

const addresses = (control: Bag): Fault[] =>
  control.enabled !== true
    ? []
    : ['allow', 'block'].flatMap(name =>
        list(control[name]).flatMap((entry, at) =>
          isAddressRange(String(entry))
            ? []
            : [
                {
                  path: `${root}.server.ipAccessControl.${name}[${at}]`,
                  message: `invalid IP/CIDR ${JSON.stringify(entry)}`,
                },
              ],
        ),
      );

const balancing = ({ enabled, targets }: Bag): Fault[] =>
  enabled === true && !list(targets).some(target => Number(bag(target).weight) > 0)
    ? [
        {
          path: `${root}.upstream.loadBalancing.targets`,
          message: 'all load balancing targets have weight 0, at least one target must have weight > 0',
        },
      ]
    : [];

const versionKey = ({ enabled, location, key }: Bag): Fault[] =>
  enabled === true && (location === 'header' || location === 'url-param') && !said(key)
    ? [{ path: `${root}.info.versioning.key`, message: `is needed when the location is ${location}` }]
    : [];

/** The ways in that are the gateway's own say where they look inside their block. */
const sources = (authentication: Bag): Fault[] =>
  ['hmac', 'oidc', 'custom'].flatMap(mode => {
    const block = bag(authentication[mode]);
    const places = ['header', 'query', 'cookie'].map(name => bag(block[name] ?? bag(block.AuthSources)[name]));
    if (block.enabled !== true || !places.some(place => Object.keys(place).length > 0)) return [];
    if (places.some(place => place.enabled === true)) return [];
    const message = `all auth sources are disabled for ${mode}, at least one of header/cookie/query must be enabled`;
    return [{ path: `${root}.server.authentication.${mode}`, message }];
  });

/** Only since 3.1 may a document be without paths. */
export const pathsLaw = ({ openapi, paths }: Bag): Fault[] =>
  paths === undefined && !String(openapi).startsWith('3.1.') ? [{ path: 'paths', message: 'is required' }] : [];

/** An operation id names one operation, also where the author gave none and it follows from the path. */
export function operationLaws({ paths }: OasDefinition): Fault[] {
  const seen = new Set<string>();
  const faults: Fault[] = [];
  for (const [path, item] of pathItemsOf(paths))
    for (const method of methods) {
      const operation = getAt(item, [method]);
      if (!isObject(operation)) continue;
      const id = idOf(operation, path, method);
      if (seen.has(id))
        faults.push({ path: formatMemberPath(['paths', path, method, 'operationId']), message: 'is not unique' });
      seen.add(id);
    }
  return faults;
}
