import type { Model } from '#definition/model.ts';
import { validateResourceMetadata } from '#definition/oauth2-validation.ts';
import { createJsonResponse, createResponse } from '../http/response.ts';
import type { BuiltInRoute, BuiltInRouteContext } from '../pipeline/built-in-route.ts';
import { listDocumentScopes } from './scopes.ts';

const defaultPath = '.well-known/oauth-protected-resource';

export interface ResourceMetadata {
  /** Relative to the listen path, with a leading slash. */
  readonly path: string;
  readonly resource: string;
  readonly servers: readonly string[];
  /** Undefined where the metadata have no scopes. */
  readonly scopes: readonly string[] | undefined;
  /** Why the metadata are invalid; empty where they are valid. */
  readonly fault: string;
}

export type ResourceMetadataParts = Pick<Model, 'oauth2' | 'metadataDocument' | 'document' | 'scopeScheme'>;

/** OAuth 2.0 protected resource metadata (RFC 9728): of the scheme, else of the API. */
export function buildResourceMetadata({
  oauth2,
  metadataDocument,
  document,
  scopeScheme,
}: ResourceMetadataParts): ResourceMetadata | undefined {
  const isOwn = oauth2.enabled && oauth2.metadataEnabled;
  if (!isOwn && !metadataDocument.enabled) return undefined;
  const { wellKnownPath, resource, authorizationServers } = isOwn ? oauth2 : metadataDocument;
  const [fault] = validateResourceMetadata('protectedResourceMetadata', true, { resource, wellKnownPath });
  const derived = oauth2.autoDeriveScopes ? listDocumentScopes(document ?? {}, scopeScheme) : undefined;
  return {
    path: `/${(wellKnownPath || defaultPath).replaceAll(/^\/+|\/+$/g, '')}`,
    resource,
    servers: authorizationServers,
    scopes: isOwn ? derived : metadataDocument.scopesSupported,
    fault: fault ? `${fault.path} ${fault.message}` : '',
  };
}

/** The metadata are public: their clients have no token yet (RFC 9728). */
export function createMetadataRoutes({ model }: BuiltInRouteContext): [path: string, route: BuiltInRoute][] {
  const metadata = buildResourceMetadata(model);
  if (metadata?.fault !== '') return [];
  const { path, resource, servers, scopes } = metadata;
  const document = {
    resource,
    authorization_servers: servers,
    ...(scopes && { scopes_supported: scopes }),
    bearer_methods_supported: ['header'],
  };
  const route: BuiltInRoute = ({ method }) =>
    method === 'GET' || method === 'HEAD'
      ? createJsonResponse(200, document)
      : createResponse(405, { Allow: 'GET, HEAD' });
  return [[path, route]];
}
