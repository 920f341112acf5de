import * as access from './endpoints/access.ts';
import * as traffic from './endpoints/traffic.ts';
import * as transforms from './endpoints/transforms.ts';
import * as authentication from './facets/authentication.ts';
import { graphql } from './facets/graphql.ts';
import * as identity from './facets/identity.ts';
import { jwt } from './facets/jwt.ts';
import * as middleware from './facets/middleware.ts';
import * as oauth from './facets/oauth.ts';
import * as oauth2 from './facets/oauth2.ts';
import * as providers from './facets/providers.ts';
import * as schemes from './facets/schemes.ts';
import * as server from './facets/server.ts';
import * as upstream from './facets/upstream.ts';
import * as upstreamAuth from './facets/upstream-auth.ts';
import * as uptime from './facets/uptime.ts';
import * as version from './facets/version.ts';

/** Facets of the API as a whole. */
export const facets = {
  identity: identity.identity,
  versioning: identity.versioning,
  versionData: identity.versionData,
  listen: server.listen,
  customDomain: server.customDomain,
  gatewayTags: server.gatewayTags,
  clientCertificates: server.clientCertificates,
  ipAccess: server.ipAccess,
  batch: server.batch,
  detail: server.detail,
  events: server.events,
  authentication: authentication.authentication,
  token: schemes.token,
  jwt,
  basic: schemes.basic,
  oauth: oauth.oauth,
  externalOAuth: oauth.externalOAuth,
  oauth2: oauth2.oauth2,
  hmac: authentication.hmac,
  oidc: authentication.oidc,
  custom: authentication.custom,
  idExtractor: authentication.idExtractor,
  metadataDocument: oauth2.metadataDocument,
  olderAuth: schemes.olderAuth,
  authProvider: providers.authProvider,
  sessionProvider: providers.sessionProvider,
  upstream: upstream.upstream,
  loadBalancing: upstream.loadBalancing,
  serviceDiscovery: upstream.serviceDiscovery,
  uptimeTests: uptime.uptimeTests,
  uptimeDiscovery: uptime.uptimeDiscovery,
  mutualTls: upstream.mutualTls,
  certificatePinning: upstream.certificatePinning,
  rateLimit: upstream.rateLimit,
  transport: upstream.transport,
  upstreamAuth: upstreamAuth.upstreamAuth,
  upstreamClientCredentials: upstreamAuth.upstreamClientCredentials,
  upstreamPassword: upstreamAuth.upstreamPassword,
  requestSigning: upstream.requestSigning,
  cors: middleware.cors,
  cache: middleware.cache,
  contextVariables: middleware.contextVariables,
  pluginConfig: middleware.pluginConfig,
  plugins: middleware.plugins,
  trafficLogs: middleware.trafficLogs,
  skips: middleware.skips,
  errorOverrides: middleware.errorOverrides,
  responseProcessors: providers.responseProcessors,
  graphql,
} as const;

/** Facets that the classic format repeats for each version. */
export const versionFacets = {
  version: version.versionSettings,
  requestHeaders: version.requestHeaders,
  responseHeaders: version.responseHeaders,
  requestSizeLimit: version.requestSizeLimit,
  timeout: version.timeout,
} as const;

/** Endpoint features, in the order a request meets them. */
export const features = {
  mockResponse: access.mockResponse,
  ignoreAuthentication: access.ignoreAuthentication,
  block: access.block,
  allow: access.allow,
  internal: access.internalEndpoint,
  trackEndpoint: traffic.trackEndpoint,
  doNotTrackEndpoint: traffic.doNotTrackEndpoint,
  requestSizeLimit: traffic.endpointSizeLimit,
  rateLimit: traffic.endpointRateLimit,
  scopeCheck: access.scopeCheck,
  exchange: access.exchange,
  validateJson: traffic.validateJson,
  validateRequest: traffic.validateRequest,
  persistGraphql: transforms.persistGraphql,
  transformRequestBody: transforms.transformRequestBody,
  transformJq: transforms.transformJq,
  transformRequestHeaders: transforms.transformRequestHeaders,
  urlRewrite: transforms.urlRewrite,
  transformRequestMethod: transforms.transformRequestMethod,
  cache: traffic.cacheEndpoint,
  virtualEndpoint: traffic.virtualEndpoint,
  endpointPlugin: traffic.goPlugin,
  enforceTimeout: traffic.enforceTimeout,
  circuitBreaker: traffic.circuitBreaker,
  transformResponseBody: transforms.transformResponseBody,
  transformJqResponse: transforms.transformJqResponse,
  transformResponseHeaders: transforms.transformResponseHeaders,
} as const;
