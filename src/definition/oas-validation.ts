import { getAt, isObject } from '#base/json-tree.ts';
import { formatMemberPath } from '#base/members.ts';
import { checkHostPort, checkPathTemplate, isAddressRange } from './classic-validation.ts';
import { facets } from './definition.ts';
import { createSuggester } from './document-names.ts';
import { listPathItems, methods, operationIdOf } from './endpoints/paths.ts';
import type { Facet } from './facet.ts';
import type { Model } from './model.ts';
import type { OasDefinition } from './oas.ts';
import { validateOauth2, validateResourceMetadata } from './oauth2-validation.ts';
import { readFacet } from './read-fields.ts';
import { findUnreferencedSchemes } from './security-requirements.ts';
import { findSchemeAnchors } from './security-schemes.ts';
import type { Fault } from './validation-error.ts';

/** What a document must keep to beyond the shape of its members. */
type Bag = Record<string, unknown>;
const root = 'x-gw-api-gateway';
const bag = (value: unknown): Bag => (typeof value === 'object' && value !== null ? (value as Bag) : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const requiredError = (...path: string[]): Fault => ({
  path: formatMemberPath([root, ...path]),
  message: 'is required',
});
const isNonBlank = (value: unknown) => typeof value === 'string' && value.trim() !== '';

/** Members without which there is no API to serve. Wrong types are told by the schema. */
export function validateExtension(document: Bag): Fault[] {
  const { info, server } = bag(document[root]);
  const faults: Fault[] = [];
  if (info === undefined || info === null) faults.push(requiredError('info'));
  else if (isMissing(bag(info).name)) faults.push(requiredError('info', 'name'));
  if (server === undefined || server === null) faults.push(requiredError('server'));
  else if (!isTcpOrTls(bag(server).protocol) && !isInternal(info) && isMissing(bag(bag(server).listenPath).value))
    faults.push(requiredError('server', 'listenPath', 'value'));
  else if (/\s/.test(String(bag(bag(server).listenPath).value)))
    faults.push({ path: `${root}.server.listenPath.value`, message: 'must not hold spaces' });
  return faults;
}

/** Whether the document names no upstream; whether it needs one is told by the model. */
export function validateUpstream(document: Bag): Fault[] {
  const { upstream } = bag(document[root]);
  if (upstream === undefined || upstream === null) return [requiredError('upstream')];
  return isMissing(bag(upstream).url) && bag(upstream).loadBalancing === undefined
    ? [requiredError('upstream', 'url')]
    : [];
}

/** Internal APIs are reached by loops, which name them by their id. */
const isInternal = (info: unknown) => bag(bag(info).state).internal === true;

/** Services of bare connections have a port and no path. */
const isTcpOrTls = (protocol: unknown) => protocol === 'tcp' || protocol === 'tls';

const checkListenPort = ({ protocol, port }: Bag): Fault[] =>
  isTcpOrTls(protocol) && !port ? [{ path: `${root}.server.port`, message: `is needed by a ${protocol} service` }] : [];

const isMissing = (value: unknown) =>
  value === undefined || value === null || (typeof value === 'string' && !isNonBlank(value));

export function validateDocument(document: OasDefinition): Fault[] {
  const { server, upstream, info } = document[root];
  return [
    ...checkSecurityNames(document),
    ...checkPathTemplate(`${root}.server.listenPath.value`, server.listenPath?.value, '/'),
    ...checkPathTemplate(`${root}.server.customDomain.name`, bag(server.customDomain).name, ''),
    ...checkHostPort(`${root}.server.customDomain.name`, bag(server.customDomain).name),
    ...checkListenPort(server),
    ...checkIpRanges(bag(server.ipAccessControl)),
    ...checkLoadBalancing(bag(bag(upstream).loadBalancing)),
    ...checkVersionKey(bag(info.versioning)),
    ...checkAuthSources(bag(server.authentication)),
    ...checkUnreferencedSchemes(document),
    ...checkScopeScheme(document),
  ];
}

/** Where requirements are alternatives, a scheme in none of them would keep nobody out. */
function checkUnreferencedSchemes(document: OasDefinition): Fault[] {
  const { enabled, securityProcessingMode } = bag(document[root].server.authentication);
  if (enabled !== true || securityProcessingMode !== 'compliant') return [];
  const names = findUnreferencedSchemes(document, document[root]);
  if (names.length === 0) return [];
  const what = names.length > 1 ? 'auth methods' : 'auth';
  const fault = `${names.join(', ')} ${what} enabled but not configured in a security requirement`;
  return [{ path: `${root}.server.authentication`, message: `invalid multi-auth configuration: ${fault}` }];
}

function checkScopeScheme(document: OasDefinition): Fault[] {
  const anchors = findSchemeAnchors(document);
  const read = (facet: unknown) => readFacet(facet as Facet, 'oas', document[root], anchors);
  const place = `${root}.server.authentication`;
  const name = anchors['@oauth2']?.at(-1);
  const scheme = name === undefined ? [] : validateOauth2(read(facets.oauth2) as Model['oauth2']);
  const older = read(facets.metadataDocument) as Model['metadataDocument'];
  return [
    ...scheme.map(({ path, message }) => ({ path: `${place}.securitySchemes.${name}.${path}`, message })),
    ...validateResourceMetadata(`${place}.protectedResourceMetadata`, older.enabled, older),
  ];
}

function checkSecurityNames({ security, components }: OasDefinition): Fault[] {
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

const checkIpRanges = (control: Bag): Fault[] =>
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

const checkLoadBalancing = ({ enabled, targets }: Bag): Fault[] =>
  enabled === true && !list(targets).some(target => Number(bag(target).weight) > 0)
    ? [
        {
          path: `${root}.upstream.loadBalancing.targets`,
          message: 'all load balancing targets have weight 0, at least one target must have weight > 0',
        },
      ]
    : [];

const checkVersionKey = ({ enabled, location, key }: Bag): Fault[] =>
  enabled === true && (location === 'header' || location === 'url-param') && !isNonBlank(key)
    ? [{ path: `${root}.info.versioning.key`, message: `is needed when the location is ${location}` }]
    : [];

/** The ways in that are the gateway's own say where they look inside their block. */
const checkAuthSources = (authentication: Bag): Fault[] =>
  ['hmac', 'oidc', 'custom'].flatMap(mode => {
    const block = bag(authentication[mode]);
    const places = ['header', 'query', 'cookie'].map(name => bag(block[name] ?? bag(block.AuthSources)[name]));
    if (block.enabled !== true || !places.some(place => Object.keys(place).length > 0)) return [];
    if (places.some(place => place.enabled === true)) return [];
    const message = `all auth sources are disabled for ${mode}, at least one of header/cookie/query must be enabled`;
    return [{ path: `${root}.server.authentication.${mode}`, message }];
  });

/** Only since 3.1 may a document be without paths. */
export const validatePaths = ({ openapi, paths }: Bag): Fault[] =>
  paths === undefined && !String(openapi).startsWith('3.1.') ? [{ path: 'paths', message: 'is required' }] : [];

/** An operation id names one operation, also where the author gave none and it follows from the path. */
export function validateOperationIds({ paths }: OasDefinition): Fault[] {
  const seen = new Set<string>();
  const faults: Fault[] = [];
  for (const [path, item] of listPathItems(paths))
    for (const method of methods) {
      const operation = getAt(item, [method]);
      if (!isObject(operation)) continue;
      const id = operationIdOf(operation, path, method);
      if (seen.has(id))
        faults.push({ path: formatMemberPath(['paths', path, method, 'operationId']), message: 'is not unique' });
      seen.add(id);
    }
  return faults;
}
