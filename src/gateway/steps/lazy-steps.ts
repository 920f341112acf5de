import { createRequire } from 'node:module';
import { createLazyStep } from '../pipeline/lazy-step.ts';
import type { StepReads } from '../pipeline/step.ts';
import { withPluginReads } from '../plugins/driver.ts';
import { loadMockResponse } from './lazy-mock-response.ts';
import type { StepServices } from './step-services.ts';

const require = createRequire(import.meta.url);

const loadTransformJq = (): typeof import('./transform-jq.ts') => require('./transform-jq.ts');

const alternativesReads = { api: ['authentication'], also: 'whole definition' } as const satisfies StepReads;

/** Steps of auth methods, each loaded by the first definition with its method. */
export const lazyAuthSteps = {
  securityRequirements: createLazyStep<StepServices, typeof alternativesReads>({
    name: 'alternatives',
    reads: alternativesReads,
    isUsed: ({ model }) => model.securityRequirements.length > 0,
    load: () => (require('./alternatives.ts') as typeof import('./alternatives.ts')).alternativesStep,
  }),
  externalOAuth: createLazyStep({
    name: 'external-oauth',
    reads: { api: ['externalOAuth'], also: { api: ['authMethods', 'graphql', 'oauth2', 'versions'] } },
    isUsed: ({ model }) => model.authMethods.includes('externalOAuth'),
    load: () => (require('../auth/external-oauth.ts') as typeof import('../auth/external-oauth.ts')).externalOAuthStep,
  }),
  basic: createLazyStep({
    name: 'basic',
    reads: { api: ['basic'], also: { api: ['authMethods', 'authentication'] } },
    isUsed: ({ model }) => model.authMethods.includes('basic'),
    load: () => (require('../auth/basic.ts') as typeof import('../auth/basic.ts')).basicAuthStep,
  }),
  hmac: createLazyStep({
    name: 'hmac',
    reads: { api: ['hmac'], also: { api: ['authMethods', 'authentication'] } },
    isUsed: ({ model }) => model.authMethods.includes('hmac'),
    load: () => (require('../auth/hmac.ts') as typeof import('../auth/hmac.ts')).hmacStep,
  }),
  jwt: createLazyStep({
    name: 'jwt',
    reads: { api: ['jwt'], also: { api: ['authMethods', 'authentication', 'graphql', 'oauth2'] } },
    isUsed: ({ model }) => model.authMethods.includes('jwt'),
    load: () => (require('../auth/jwt.ts') as typeof import('../auth/jwt.ts')).jwtStep,
  }),
  oidc: createLazyStep({
    name: 'oidc',
    reads: { api: ['oidc'], also: { api: ['authMethods', 'authentication', 'graphql', 'oauth2'] } },
    isUsed: ({ model }) => model.authMethods.includes('oidc'),
    load: () => (require('../auth/oidc.ts') as typeof import('../auth/oidc.ts')).oidcStep,
  }),
  plugin: createLazyStep({
    name: 'plugin-auth',
    reads: withPluginReads('listen', 'authMethods', 'authentication', 'idExtractor'),
    isUsed: ({ model }) => model.authMethods.includes('custom'),
    load: () => (require('./plugin-auth.ts') as typeof import('./plugin-auth.ts')).pluginAuthStep,
  }),
  scopeCheck: createLazyStep({
    name: 'scope-check',
    reads: {
      api: ['oauth2'],
      endpoints: ['scopeCheck'],
      also: {
        api: [
          'authMethods',
          'authentication',
          'document',
          'mcp',
          'metadataDocument',
          'upstream',
          'scopeScheme',
          'securityRequirements',
        ],
      },
    },
    isUsed: ({ model }) => model.oauth2.enabled && model.oauth2.scopeCheckEnabled,
    load: () => (require('../auth/scope-check.ts') as typeof import('../auth/scope-check.ts')).scopeCheckStep,
  }),
  tokenExchange: createLazyStep({
    name: 'token-exchange',
    reads: { api: ['oauth2'], endpoints: ['exchange'], also: { api: ['authentication', 'mcp', 'upstream'] } },
    isUsed: ({ model }) => model.oauth2.enabled && model.oauth2.exchangeEnabled,
    load: () => (require('../auth/token-exchange.ts') as typeof import('../auth/token-exchange.ts')).tokenExchangeStep,
  }),
};

/** Steps of MCP proxies and GraphQL APIs. */
export const lazyProtocolSteps = {
  mcpMessage: createLazyStep({
    name: 'mcp-message',
    reads: { api: ['mcp'], also: 'whole definition' },
    isUsed: ({ model }) => model.mcp !== null,
    load: () => (require('./mcp-message.ts') as typeof import('./mcp-message.ts')).mcpMessageStep,
  }),
  mcpAccess: createLazyStep({
    name: 'mcp-access',
    reads: { also: 'whole definition' },
    isUsed: ({ model }) => model.mcp !== null,
    load: () => (require('./mcp-access.ts') as typeof import('./mcp-access.ts')).mcpAccessStep,
  }),
  mcpRights: createLazyStep({
    name: 'mcp-rights',
    reads: { api: ['mcp'], also: { api: ['authMethods'] } },
    isUsed: ({ model }) => model.mcp !== null,
    load: () => (require('./mcp-rights.ts') as typeof import('./mcp-rights.ts')).mcpRightsStep,
  }),
  mcpLists: createLazyStep({
    name: 'mcp-lists',
    reads: { also: 'whole definition' },
    isUsed: ({ model }) => model.mcp !== null,
    load: () => (require('./mcp-lists.ts') as typeof import('./mcp-lists.ts')).mcpListsStep,
  }),
  persistGraphql: createLazyStep({
    name: 'persist-graphql',
    reads: { endpoints: ['persistGraphql'] },
    isUsed: ({ version }) => version.endpoints.persistGraphql.length > 0,
    load: () => (require('./persist-graphql.ts') as typeof import('./persist-graphql.ts')).persistGraphqlStep,
  }),
  graphql: createLazyStep({
    name: 'graphql',
    reads: { api: ['graphql'], also: { api: ['oauth2', 'cors'] } },
    isUsed: ({ model }) => model.graphql.enabled,
    load: () => (require('../graphql/graphql-step.ts') as typeof import('../graphql/graphql-step.ts')).graphqlStep,
  }),
  graphqlHeaders: createLazyStep({
    name: 'graphql-headers',
    reads: { api: ['graphql'] },
    isUsed: ({ model }) => model.graphql.enabled,
    load: () => (require('./graphql-headers.ts') as typeof import('./graphql-headers.ts')).graphqlHeadersStep,
  }),
  graphqlResponse: createLazyStep({
    name: 'graphql-response',
    reads: { api: ['graphql'] },
    isUsed: ({ model }) => model.graphql.enabled,
    load: () =>
      (require('../graphql/graphql-response-step.ts') as typeof import('../graphql/graphql-response-step.ts'))
        .graphqlResponseStep,
  }),
};

/** Steps that trace, validate, transform, cache or sign. */
export const lazyContentSteps = {
  tracing: createLazyStep({
    name: 'tracing',
    reads: { api: ['detail'] },
    isUsed: ({ model }) => model.detail.tracing,
    load: () => (require('./tracing.ts') as typeof import('./tracing.ts')).tracingStep,
  }),
  upstreamAuth: createLazyStep({
    name: 'upstream-auth',
    reads: { api: ['upstreamAuth', 'upstreamClientCredentials', 'upstreamPassword'] },
    isUsed: ({ model }) => model.upstreamAuth.enabled,
    load: () => (require('./upstream-auth.ts') as typeof import('./upstream-auth.ts')).upstreamAuthStep,
  }),
  validateJson: createLazyStep({
    name: 'validate-json',
    reads: { endpoints: ['validateJson'] },
    isUsed: ({ version }) => version.endpoints.validateJson.length > 0,
    load: () => (require('./validate-json.ts') as typeof import('./validate-json.ts')).validateJsonStep,
  }),
  validateRequest: createLazyStep({
    name: 'validate-request',
    reads: { endpoints: ['validateRequest'], also: { api: ['document'] } },
    isUsed: ({ version }) => version.endpoints.validateRequest.length > 0,
    load: () => (require('./validate-request.ts') as typeof import('./validate-request.ts')).validateRequestStep,
  }),
  transformRequestBody: createLazyStep({
    name: 'transform-request-body',
    reads: { endpoints: ['transformRequestBody'], also: { api: ['contextVariables'] } },
    isUsed: ({ version }) => version.endpoints.transformRequestBody.length > 0,
    load: () =>
      (require('./transform-request-body.ts') as typeof import('./transform-request-body.ts')).transformRequestBodyStep,
  }),
  transformRequestJq: createLazyStep({
    name: 'transform-request-jq',
    reads: { endpoints: ['transformJq'], also: { api: ['contextVariables'] } },
    isUsed: ({ version }) => version.endpoints.transformJq.length > 0,
    load: () => loadTransformJq().transformRequestJqStep,
  }),
  urlRewrite: createLazyStep({
    name: 'url-rewrite',
    reads: { endpoints: ['urlRewrite'], also: { api: ['listen'] } },
    isUsed: ({ version }) => version.endpoints.urlRewrite.length > 0,
    load: () => (require('./url-rewrite.ts') as typeof import('./url-rewrite.ts')).urlRewriteStep,
  }),
  virtualEndpoint: createLazyStep({
    name: 'virtual-endpoint',
    reads: withPluginReads('listen'),
    isUsed: ({ version }) => version.endpoints.virtualEndpoint.length > 0,
    load: () => (require('./virtual-endpoint.ts') as typeof import('./virtual-endpoint.ts')).virtualEndpointStep,
  }),
  mockResponse: createLazyStep({
    name: 'mock-response',
    reads: { endpoints: ['mockResponse'], also: { api: ['document'] } },
    isUsed: ({ version }) => version.endpoints.mockResponse.length > 0,
    load: () => loadMockResponse().mockResponseStep,
  }),
  transformResponseBody: createLazyStep({
    name: 'transform-response-body',
    reads: { endpoints: ['transformResponseBody'], also: { api: ['contextVariables'] } },
    isUsed: ({ version }) => version.endpoints.transformResponseBody.length > 0,
    load: () =>
      (require('./transform-response-body.ts') as typeof import('./transform-response-body.ts'))
        .transformResponseBodyStep,
  }),
  transformResponseJq: createLazyStep({
    name: 'transform-response-jq',
    reads: { endpoints: ['transformJqResponse'], also: { api: ['contextVariables'] } },
    isUsed: ({ version }) => version.endpoints.transformJqResponse.length > 0,
    load: () => loadTransformJq().transformResponseJqStep,
  }),
  responseProcessors: createLazyStep({
    name: 'response-processors',
    reads: { api: ['responseProcessors'], also: { api: ['listen', 'upstream', 'loadBalancing'] } },
    isUsed: ({ model }) => model.responseProcessors.list.length > 0,
    load: () =>
      (require('./response-processors.ts') as typeof import('./response-processors.ts')).responseProcessorsStep,
  }),
  cache: createLazyStep({
    name: 'cache',
    reads: { api: ['cache'], endpoints: ['cache'], also: 'whole definition' },
    isUsed: ({ model }) => model.cache.enabled,
    load: () => (require('./cache.ts') as typeof import('./cache.ts')).cacheStep,
  }),
  requestSigning: createLazyStep({
    name: 'request-signing',
    reads: { api: ['requestSigning'], also: { api: ['hmac'] } },
    isUsed: ({ model }) => model.requestSigning.enabled,
    load: () => (require('./request-signing.ts') as typeof import('./request-signing.ts')).requestSigningStep,
  }),
};
