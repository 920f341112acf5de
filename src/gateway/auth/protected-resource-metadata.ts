import type { Model } from '#definition/model.ts';
import { isMirroredMetadata, validateResourceMetadata } from '#definition/oauth2-validation.ts';
import { createJsonResponse, createResponse, type GatewayResponse } from '../http/response.ts';
import type { BuiltInRoute, BuiltInRouteContext } from '../pipeline/built-in-route.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import { createMirroredMetadata, type ReadUpstreamTls } from './mirrored-metadata.ts';
import { listDocumentScopes } from './scopes.ts';
import type { AuthServices } from './services.ts';

const defaultPath = '.well-known/oauth-protected-resource';

export interface ResourceMetadata {
  /** Relative to the listen path, with a leading slash. */
  readonly path: string;
  /** Empty where the document is that of the upstream. */
  readonly resource: string;
  readonly servers: readonly string[];
  /** Undefined where the metadata have no scopes. */
  readonly scopes: readonly string[] | undefined;
  /** The document of the upstream is served, with the URL of the gateway as its resource. */
  readonly isMirrored: boolean;
  /** Why the metadata are invalid; empty where they are valid. */
  readonly fault: string;
}

export type ResourceMetadataParts = Pick<
  Model,
  'oauth2' | 'metadataDocument' | 'document' | 'scopeScheme' | 'mcp' | 'upstream'
>;

/** OAuth 2.0 protected resource metadata (RFC 9728): of the scheme, else of the API. */
export function buildResourceMetadata(model: ResourceMetadataParts): ResourceMetadata | undefined {
  const { oauth2, metadataDocument, document, scopeScheme, mcp, upstream } = model;
  const isOwn = oauth2.enabled && oauth2.metadataEnabled;
  if (!isOwn && !metadataDocument.enabled) return undefined;
  const source = { isMcp: mcp !== null, upstreamUrl: upstream.url };
  const settings = isOwn ? { ...oauth2, scopesSupported: [] } : metadataDocument;
  const { wellKnownPath, resource, authorizationServers } = settings;
  const [fault] = validateResourceMetadata('protectedResourceMetadata', true, settings, source);
  const derived = oauth2.autoDeriveScopes ? listDocumentScopes(document ?? {}, scopeScheme) : undefined;
  return {
    path: `/${(wellKnownPath || defaultPath).replaceAll(/^\/+|\/+$/g, '')}`,
    resource,
    servers: authorizationServers,
    scopes: isOwn ? derived : metadataDocument.scopesSupported,
    isMirrored: isMirroredMetadata(settings, source),
    fault: fault ? `${fault.path} ${fault.message}` : '',
  };
}

/** URL of the API as its client addressed it. Only trusted proxies may name another scheme or host. */
export function buildGatewayUrl({ peer, headers, host, listenPath }: Exchange): string {
  const readForwarded = (name: string) => (peer.isTrusted ? (headers.get(name) ?? '').split(',', 1)[0]!.trim() : '');
  const isSecure = peer.isTls || readForwarded('x-forwarded-proto').toLowerCase() === 'https';
  const named = readForwarded('x-forwarded-host') || headers.get('host') || '';
  const authority = /^[\w.-]+(?::\d{1,5})?$|^\[[\da-f:.]+\](?::\d{1,5})?$/i.test(named) ? named : host;
  return `${isSecure ? 'https' : 'http'}://${authority}${listenPath.replace(/\/$/, '')}`;
}

interface MetadataContext extends BuiltInRouteContext<Pick<AuthServices, 'outbound' | 'clock' | 'log'>> {
  readonly readUpstreamTls: ReadUpstreamTls;
}

/** The metadata are public: their clients have no token yet (RFC 9728). */
export function createMetadataRoutes(context: MetadataContext): [path: string, route: BuiltInRoute][] {
  const { model } = context;
  const metadata = buildResourceMetadata(model);
  if (metadata?.fault !== '') return [];
  const serve = metadata.isMirrored ? createMirror(context) : createStaticDocument(metadata);
  const route: BuiltInRoute = call =>
    call.method === 'GET' || call.method === 'HEAD' ? serve(call) : createResponse(405, { Allow: 'GET, HEAD' });
  return [[metadata.path, route]];
}

function createStaticDocument({ resource, servers, scopes }: ResourceMetadata): () => GatewayResponse {
  const document = {
    resource,
    authorization_servers: servers,
    ...(scopes && { scopes_supported: scopes }),
    bearer_methods_supported: ['header'],
  };
  return () => createJsonResponse(200, document);
}

/** The resource depends on the host of the request: no cache may store the document for another one. */
function createMirror({ model, services, readUpstreamTls }: MetadataContext) {
  const mirror = createMirroredMetadata(model.upstream.url, services, readUpstreamTls);
  return async (call: Exchange): Promise<GatewayResponse> => {
    const document = await mirror.read();
    if (!document) return refuse(call, 'metadata_unavailable');
    const response = createJsonResponse(200, { ...document, resource: buildGatewayUrl(call) });
    response.headers.set('Cache-Control', 'no-store');
    return response;
  };
}
