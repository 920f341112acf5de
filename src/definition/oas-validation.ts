import { arrayOrEmpty, getAt, isObject, type JsonObject, objectOrEmpty, textOrEmpty } from '#base/json-tree.ts';
import { formatMemberPath } from '#base/members.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import { checkHostPort, checkPathTemplate, isAddressRange } from './classic-validation.ts';
import { facets } from './definition.ts';
import { extensionName } from './document-members.ts';
import { createSuggester } from './document-names.ts';
import { listPathItems, methods, operationIdOf } from './endpoints/paths.ts';
import type { Facet } from './facet.ts';
import { isMcpExtension } from './mcp-names.ts';
import type { Model } from './model.ts';
import { validateOauth2, validateResourceMetadata } from './oauth2-validation.ts';
import { readFacet } from './read-fields.ts';
import { findUnreferencedSchemes } from './security-requirements.ts';
import { findSchemeAnchors } from './security-schemes.ts';
import type { OasDefinition } from './wire-types.ts';

const reportMissing = (...path: string[]): ValidationError => ({
  path: formatMemberPath([extensionName, ...path]),
  message: 'is required',
});
const isNonBlank = (value: unknown) => typeof value === 'string' && value.trim() !== '';

/** Requires the members without which no API can be served. The schema reports wrong types. */
export function validateExtension(document: JsonObject): ValidationError[] {
  const { info, server } = objectOrEmpty(document[extensionName]);
  const errors: ValidationError[] = [];
  if (info === undefined || info === null) errors.push(reportMissing('info'));
  else if (isMissing(objectOrEmpty(info).name)) errors.push(reportMissing('info', 'name'));
  if (server === undefined || server === null) errors.push(reportMissing('server'));
  else if (
    !isTcpOrTls(objectOrEmpty(server).protocol) &&
    !isInternal(info) &&
    isMissing(objectOrEmpty(objectOrEmpty(server).listenPath).value)
  )
    errors.push(reportMissing('server', 'listenPath', 'value'));
  else if (/\s/.test(textOrEmpty(objectOrEmpty(objectOrEmpty(server).listenPath).value)))
    errors.push({ path: `${extensionName}.server.listenPath.value`, message: 'must not contain spaces' });
  return errors;
}

/** Requires an upstream; call it where the model needs one. */
export function validateUpstream(document: JsonObject): ValidationError[] {
  const { upstream } = objectOrEmpty(document[extensionName]);
  if (upstream === undefined || upstream === null) return [reportMissing('upstream')];
  return isMissing(objectOrEmpty(upstream).url) && objectOrEmpty(upstream).loadBalancing === undefined
    ? [reportMissing('upstream', 'url')]
    : [];
}

/** Internal APIs are reached through loops, by id. */
const isInternal = (info: unknown) => objectOrEmpty(objectOrEmpty(info).state).internal === true;

/** TCP and TLS services have a port and no path. */
const isTcpOrTls = (protocol: unknown) => protocol === 'tcp' || protocol === 'tls';

const checkListenPort = ({ protocol, port }: JsonObject): ValidationError[] =>
  isTcpOrTls(protocol) && !port
    ? [{ path: `${extensionName}.server.port`, message: `is needed by a ${protocol} service` }]
    : [];

const isMissing = (value: unknown) =>
  value === undefined || value === null || (typeof value === 'string' && !isNonBlank(value));

export function validateDocument(document: OasDefinition): ValidationError[] {
  const { server, upstream, info } = document[extensionName];
  return [
    ...checkSecurityNames(document),
    ...checkPathTemplate(`${extensionName}.server.listenPath.value`, server.listenPath?.value, '/'),
    ...checkPathTemplate(`${extensionName}.server.customDomain.name`, objectOrEmpty(server.customDomain).name, ''),
    ...checkHostPort(`${extensionName}.server.customDomain.name`, objectOrEmpty(server.customDomain).name),
    ...checkListenPort(server),
    ...checkIpRanges(objectOrEmpty(server.ipAccessControl)),
    ...checkLoadBalancing(objectOrEmpty(objectOrEmpty(upstream).loadBalancing)),
    ...checkVersionKey(objectOrEmpty(info.versioning)),
    ...checkAuthSources(objectOrEmpty(server.authentication)),
    ...checkUnreferencedSchemes(document),
    ...checkScopeScheme(document),
  ];
}

/** Among alternative requirements, an enabled scheme that no requirement names would never be checked. */
function checkUnreferencedSchemes(document: OasDefinition): ValidationError[] {
  const { enabled, securityProcessingMode } = objectOrEmpty(document[extensionName].server.authentication);
  if (enabled !== true || securityProcessingMode !== 'compliant') return [];
  const names = findUnreferencedSchemes(document, document[extensionName]);
  if (names.length === 0) return [];
  const what = names.length > 1 ? 'auth methods' : 'auth';
  const error = `${names.join(', ')} ${what} enabled but not configured in a security requirement`;
  return [{ path: `${extensionName}.server.authentication`, message: `invalid multi-auth configuration: ${error}` }];
}

function checkScopeScheme(document: OasDefinition): ValidationError[] {
  const anchors = findSchemeAnchors(document);
  const read = (facet: unknown) => readFacet(facet as Facet, 'oas', document[extensionName], anchors);
  const place = `${extensionName}.server.authentication`;
  const name = anchors['@oauth2']?.at(-1);
  const extension = document[extensionName];
  const source = { isMcp: isMcpExtension(extension), upstreamUrl: textOrEmpty(objectOrEmpty(extension.upstream).url) };
  const scheme = name === undefined ? [] : validateOauth2(read(facets.oauth2) as Model['oauth2'], source);
  const older = read(facets.metadataDocument) as Model['metadataDocument'];
  return [
    ...scheme.map(({ path, message }) => ({ path: `${place}.securitySchemes.${name}.${path}`, message })),
    ...validateResourceMetadata(`${place}.protectedResourceMetadata`, older.enabled, older, source),
  ];
}

function checkSecurityNames({ security, components }: OasDefinition): ValidationError[] {
  const known = Object.keys(objectOrEmpty(components?.securitySchemes));
  const suggest = createSuggester(known);
  return arrayOrEmpty(security).flatMap((requirement, at) =>
    Object.keys(objectOrEmpty(requirement))
      .filter(name => !known.includes(name))
      .map(name => ({
        path: `security[${at}]`,
        message: `${name} is not one of components.securitySchemes${suggest(name)}`,
      })),
  );
}

const checkIpRanges = (control: JsonObject): ValidationError[] =>
  control.enabled !== true
    ? []
    : ['allow', 'block'].flatMap(name =>
        arrayOrEmpty(control[name]).flatMap((entry, at) =>
          isAddressRange(textOrEmpty(entry))
            ? []
            : [
                {
                  path: `${extensionName}.server.ipAccessControl.${name}[${at}]`,
                  message: `invalid IP/CIDR ${JSON.stringify(entry)}`,
                },
              ],
        ),
      );

const checkLoadBalancing = ({ enabled, targets }: JsonObject): ValidationError[] =>
  enabled === true && !arrayOrEmpty(targets).some(target => Number(objectOrEmpty(target).weight) > 0)
    ? [
        {
          path: `${extensionName}.upstream.loadBalancing.targets`,
          message: 'all load balancing targets have weight 0, at least one target must have weight > 0',
        },
      ]
    : [];

const checkVersionKey = ({ enabled, location, key }: JsonObject): ValidationError[] =>
  enabled === true && (location === 'header' || location === 'url-param') && !isNonBlank(key)
    ? [{ path: `${extensionName}.info.versioning.key`, message: `is needed when the location is ${location}` }]
    : [];

/** Auth methods that OpenAPI cannot express have their credential sources inside their block. */
const checkAuthSources = (authentication: JsonObject): ValidationError[] =>
  ['hmac', 'oidc', 'custom'].flatMap(mode => {
    const block = objectOrEmpty(authentication[mode]);
    const places = ['header', 'query', 'cookie'].map(name =>
      objectOrEmpty(block[name] ?? objectOrEmpty(block.AuthSources)[name]),
    );
    if (block.enabled !== true || !places.some(place => Object.keys(place).length > 0)) return [];
    if (places.some(place => place.enabled === true)) return [];
    const message = `all auth sources are disabled for ${mode}, at least one of header/cookie/query must be enabled`;
    return [{ path: `${extensionName}.server.authentication.${mode}`, message }];
  });

/** Paths are optional since OpenAPI 3.1. */
export const validatePaths = ({ openapi, paths }: JsonObject): ValidationError[] =>
  paths === undefined && !textOrEmpty(openapi).startsWith('3.1.') ? [{ path: 'paths', message: 'is required' }] : [];

/** Operation ids are unique, default ids included. */
export function validateOperationIds({ paths }: OasDefinition): ValidationError[] {
  const seen = new Set<string>();
  const errors: ValidationError[] = [];
  for (const [path, item] of listPathItems(paths))
    for (const method of methods) {
      const operation = getAt(item, [method]);
      if (!isObject(operation)) continue;
      const id = operationIdOf(operation, path, method);
      if (seen.has(id))
        errors.push({ path: formatMemberPath(['paths', path, method, 'operationId']), message: 'is not unique' });
      seen.add(id);
    }
  return errors;
}
