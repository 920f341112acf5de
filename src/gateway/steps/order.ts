import { bearerTokenStep } from '../auth/bearer-token.ts';
import { oauthTokenStep } from '../auth/oauth/token-step.ts';
import { requiredPoliciesStep } from '../auth/required-policies.ts';
import { resourceChallengeStep } from '../auth/resource-challenge.ts';
import { authTokenStep } from '../auth/token.ts';
import { clientCertificatesUnlessRequired, unlessRequirements } from '../auth/unless-requirements.ts';
import { apiLimitsStep } from '../limits/api-limits.ts';
import { keyLimitsStep } from '../limits/key-limits.ts';
import { organisationLimitsStep } from '../limits/organisation-limits.ts';
import { rateLimitHeadersStep } from '../limits/rate-limit-headers.ts';
import type { ChainStep } from '../pipeline/step.ts';
import { accessRightsStep } from './access-rights.ts';
import { allowedUrlsStep } from './allowed-urls.ts';
import { circuitBreakerStep } from './circuit-breaker.ts';
import { contextVariablesStep } from './context-variables.ts';
import { corsHeadersStep, corsStep } from './cors.ts';
import { endpointAccessStep } from './endpoint-access.ts';
import { enforcedTimeoutStep } from './enforced-timeout.ts';
import { errorOverridesStep } from './error-overrides.ts';
import { expiryStep } from './expiry.ts';
import { ipAccessStep } from './ip-access.ts';
import { keyStateStep } from './key-state.ts';
import { lazyAuthSteps, lazyContentSteps, lazyProtocolSteps } from './lazy-steps.ts';
import { methodTransformStep } from './method-transform.ts';
import { pathParametersStep } from './path-parameters.ts';
import { endpointPluginsStep, postAuthPluginsStep, postPluginsStep, prePluginsStep } from './plugins.ts';
import { rateLimitsEndpointStep } from './rate-limits-endpoint.ts';
import { requestHeadersStep } from './request-headers.ts';
import { responseHeadersStep } from './response-headers.ts';
import { responsePluginsStep } from './response-plugins.ts';
import { serviceDiscoveryStep } from './service-discovery.ts';
import { sizeLimitStep } from './size-limit.ts';
import type { StepServices } from './step-services.ts';
import { stripAuthStep } from './strip-auth.ts';
import { trackingStep } from './tracking.ts';
import { unsupportedStep } from './unsupported.ts';

/**
 * All steps in execution order, each with the reason for its position. A step that a definition does not use is not in
 * its chain.
 */
export interface StepPlacement {
  readonly step: ChainStep<StepServices>;
  readonly why: string;
}

export const order: readonly StepPlacement[] = [
  { step: unsupportedStep, why: 'An API with an unsupported feature is not served at all.' },
  { step: requiredPoliciesStep, why: 'Nor is one whose authentication references a missing policy.' },
  { step: corsHeadersStep, why: 'Browsers need CORS headers on errors of every later step too.' },
  { step: lazyContentSteps.tracing, why: 'Errors are part of the trace as well.' },
  {
    step: lazyProtocolSteps.mcpMessage,
    why: 'Every list of endpoints matches by the message, and errors of later steps repeat its id.',
  },
  {
    step: resourceChallengeStep,
    why: 'Before the first step that refuses with 401; its hook for upstream responses runs before those of plugins.',
  },
  { step: expiryStep, why: 'An expired API or version rejects every request, authenticated or not.' },
  {
    step: pathParametersStep,
    why: 'Before the first endpoint list: rules must hold for both readings of an ambiguous path.',
  },
  { step: trackingStep, why: 'Decides whether the request is recorded, also when a later step refuses it.' },
  { step: endpointAccessStep, why: 'Open endpoints skip the authentication steps below.' },
  { step: lazyProtocolSteps.mcpAccess, why: 'The same for MCP proxies.' },
  {
    step: corsStep,
    why: 'Preflights have no credentials: before authentication, after blocked endpoints.',
  },
  { step: ipAccessStep, why: 'Cheaper than authentication, and applies to open endpoints too.' },
  {
    step: clientCertificatesUnlessRequired,
    why: 'Comes from the connection, before credentials in the request.',
  },
  {
    step: organisationLimitsStep,
    why: 'Counts all requests of an organisation, before they cost a credential check.',
  },
  { step: sizeLimitStep, why: 'Before any step reads a body; applies to open endpoints too.' },
  { step: prePluginsStep, why: 'Before authentication, which may read what a plugin sets; after limits on size.' },
  { step: contextVariablesStep, why: 'Before credentials are stripped; later steps add their variables.' },
  {
    step: lazyAuthSteps.securityRequirements,
    why: 'Replaces the auth methods below where security requirements are OR-ed.',
  },
  {
    step: unlessRequirements(oauthTokenStep),
    why: 'Auth methods have a fixed order, so that with several of them the last session is deterministic.',
  },
  { step: unlessRequirements(lazyAuthSteps.externalOAuth), why: 'Fixed order of auth methods: after OAuth.' },
  { step: unlessRequirements(lazyAuthSteps.basic), why: 'Fixed order of auth methods: after external OAuth.' },
  { step: unlessRequirements(lazyAuthSteps.hmac), why: 'Fixed order of auth methods: after basic auth.' },
  { step: unlessRequirements(lazyAuthSteps.jwt), why: 'Fixed order of auth methods: after HMAC.' },
  { step: unlessRequirements(lazyAuthSteps.oidc), why: 'Fixed order of auth methods: after JWT.' },
  { step: unlessRequirements(lazyAuthSteps.plugin), why: 'Fixed order of auth methods: after OpenID Connect.' },
  { step: unlessRequirements(authTokenStep), why: 'Fixed order of auth methods: last.' },
  { step: bearerTokenStep, why: 'After all auth methods verified the token, before it is stripped.' },
  { step: stripAuthStep, why: 'All auth methods have read their credentials.' },
  { step: postAuthPluginsStep, why: 'Right after authentication, before its session is checked.' },
  { step: keyStateStep, why: 'First check of the key, for all auth methods.' },
  { step: accessRightsStep, why: 'An active key may lack access to this API.' },
  {
    step: rateLimitsEndpointStep,
    why: 'Available to every key with access, without counting against its limits.',
  },
  { step: allowedUrlsStep, why: 'Access to the API may be restricted to some endpoints.' },
  { step: lazyProtocolSteps.mcpRights, why: 'Access to an MCP proxy may be restricted to some primitives.' },
  { step: keyLimitsStep, why: 'Only requests with access count against the limits of a key.' },
  {
    step: lazyAuthSteps.scopeCheck,
    why: 'Last authorization check; a token without the scope still counts against limits.',
  },
  {
    step: lazyAuthSteps.tokenExchange,
    why: 'Only for authorized requests: a provider request costs more than all checks before.',
  },
  { step: apiLimitsStep, why: 'After key limits, so that one key cannot exhaust the limit of the API for others.' },
  { step: lazyProtocolSteps.persistGraphql, why: 'The operation it sends is checked like one of a client.' },
  { step: lazyProtocolSteps.graphql, why: 'After all limits: parsing a document costs more than counting a request.' },
  {
    step: lazyContentSteps.upstreamAuth,
    why: 'All auth methods have read the credential of the client, which this one replaces.',
  },
  { step: lazyContentSteps.validateJson, why: 'After all limits: parsing a body costs more than counting a request.' },
  { step: lazyContentSteps.validateRequest, why: 'Validates the request as sent, before transforms.' },
  {
    step: lazyContentSteps.transformRequestBody,
    why: 'Transforms validated bodies only; before header transforms, which may describe the result.',
  },
  { step: lazyContentSteps.transformRequestJq, why: 'After templates: a filter gets their output.' },
  { step: requestHeadersStep, why: 'After all steps that read headers of the client.' },
  { step: lazyContentSteps.urlRewrite, why: 'Sees the transformed body and context; applied after all steps.' },
  { step: methodTransformStep, why: 'After the rewrite, whose endpoints match the original method.' },
  {
    step: endpointPluginsStep,
    why: 'Sees the result of all transforms; before the plugins of all endpoints, which see its result.',
  },
  { step: postPluginsStep, why: 'Last change of the request by the definition: sees the result of all transforms.' },
  {
    step: lazyProtocolSteps.graphqlHeaders,
    why: 'Final headers of GraphQL requests: no transform or plugin changes them.',
  },
  {
    step: lazyContentSteps.virtualEndpoint,
    why: 'Responds in place of the upstream: requires access, and sees the final request.',
  },
  {
    step: lazyContentSteps.mockResponse,
    why: 'Mocks require access too, and pass the response phase like upstream responses.',
  },
  {
    step: lazyProtocolSteps.mcpLists,
    why: 'First in the response phase: no later step sees primitives that the client may not use.',
  },
  { step: lazyProtocolSteps.graphqlResponse, why: 'Response phase: transforms see the errors that clients get.' },
  {
    step: lazyContentSteps.transformResponseBody,
    why: 'First transform of the response phase: later steps see the body the client gets.',
  },
  { step: lazyContentSteps.transformResponseJq, why: 'After templates, as in the request phase.' },
  { step: responseHeadersStep, why: 'Response phase: after body transforms, so that headers may describe the result.' },
  {
    step: lazyContentSteps.responseProcessors,
    why: 'After header transforms, whose values may contain upstream URLs too.',
  },
  { step: responsePluginsStep, why: 'Response phase: after all transforms, whose result a plugin sees.' },
  {
    step: errorOverridesStep,
    why: 'Response phase: last change of the response. The cache stores what all response hooks left.',
  },
  {
    step: lazyContentSteps.cache,
    why: 'Request phase: cached responses require access too; after all steps that change the request.',
  },
  { step: lazyContentSteps.requestSigning, why: 'Signs the final request: no step changes it afterwards.' },
  { step: enforcedTimeoutStep, why: 'The upstream timeout starts when the request is forwarded.' },
  { step: serviceDiscoveryStep, why: 'Observes the results of requests to discovered hosts.' },
  { step: circuitBreakerStep, why: 'Last: counts only requests that reach the upstream.' },
  { step: rateLimitHeadersStep, why: 'Last in the response phase: replaces rate limit headers of upstreams.' },
];
