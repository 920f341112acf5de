import { basicAuthStep } from '../auth/basic.ts';
import { bearerTokenStep } from '../auth/bearer.ts';
import { externalOAuthStep } from '../auth/external-oauth.ts';
import { hmacStep } from '../auth/hmac.ts';
import { jwtStep } from '../auth/jwt.ts';
import { oauthTokenStep } from '../auth/oauth/token-step.ts';
import { oidcStep } from '../auth/oidc.ts';
import { requiredPoliciesStep } from '../auth/required-policies.ts';
import { scopeCheckStep } from '../auth/scope-check.ts';
import {
  clientCertificatesUnlessRequired,
  securityRequirementsStep,
  unlessRequirements,
} from '../auth/security-requirements.ts';
import { authTokenStep } from '../auth/token.ts';
import { tokenExchangeStep } from '../auth/token-exchange.ts';
import { apiLimitsStep } from '../limits/api-limits.ts';
import { keyLimitsStep } from '../limits/key-limits.ts';
import { organisationLimitsStep } from '../limits/organisation-limits.ts';
import { rateLimitHeadersStep } from '../limits/rate-limit-headers.ts';
import type { Step } from '../pipeline/step.ts';
import { accessRightsStep } from './access-rights.ts';
import { allowedUrlsStep } from './allowed-urls.ts';
import { cacheStep } from './cache.ts';
import { circuitBreakerStep } from './circuit-breaker.ts';
import { contextVariablesStep } from './context-variables.ts';
import { corsHeadersStep, corsStep } from './cors.ts';
import { endpointAccessStep } from './endpoint-access.ts';
import { enforcedTimeoutStep } from './enforced-timeout.ts';
import { errorOverridesStep } from './error-overrides.ts';
import { expiryStep } from './expiry.ts';
import { ipAccessStep } from './ip-access.ts';
import { keyStateStep } from './key-state.ts';
import { methodTransformStep } from './method-transform.ts';
import { mockResponseStep } from './mock-response.ts';
import { pathParametersStep } from './path-parameters.ts';
import { rateLimitsEndpointStep } from './rate-limits-endpoint.ts';
import { requestHeadersStep } from './request-headers.ts';
import { requestSigningStep } from './request-signing.ts';
import { responseHeadersStep } from './response-headers.ts';
import { responseProcessorsStep } from './response-processors.ts';
import { serviceDiscoveryStep } from './service-discovery.ts';
import { sizeLimitStep } from './size-limit.ts';
import { stripAuthStep } from './strip-auth.ts';
import { tracingStep } from './tracing.ts';
import { trackingStep } from './tracking.ts';
import { transformRequestJqStep, transformResponseJqStep } from './transform-jq.ts';
import { transformRequestBodyStep } from './transform-request-body.ts';
import { transformResponseBodyStep } from './transform-response-body.ts';
import { unsupportedStep } from './unsupported.ts';
import { upstreamAuthStep } from './upstream-auth.ts';
import { urlRewriteStep } from './url-rewrite.ts';
import { validateJsonStep } from './validate-json.ts';
import { validateRequestStep } from './validate-request.ts';

/**
 * All steps, in the order a call meets them, each with the reason for its place. A step that has nothing to do for a
 * definition is not in that definition's chain.
 */
export interface StepPlacement {
  readonly step: Step;
  readonly why: string;
}

export const order: readonly StepPlacement[] = [
  { step: unsupportedStep, why: 'An API that cannot be served as it is written is not served at all.' },
  { step: requiredPoliciesStep, why: 'Nor is one that gives its callers a policy nobody has.' },
  { step: corsHeadersStep, why: 'Pages of other origins may read refusals too, whichever step refuses.' },
  { step: tracingStep, why: 'Refusals are part of a trace as well.' },
  { step: expiryStep, why: 'What is no longer in service answers nobody, known or not.' },
  {
    step: pathParametersStep,
    why: 'Before the first rule about paths: what they say of a call must hold for both ways to read it.',
  },
  { step: trackingStep, why: 'Whatever becomes of the call, its record is kept or not as the definition says.' },
  { step: endpointAccessStep, why: 'Whether an endpoint is open decides what the steps after it ask.' },
  {
    step: corsStep,
    why: 'Browsers ask without credentials: before any is asked for, after what is closed to everybody.',
  },
  { step: ipAccessStep, why: 'Costs less than any credential, and holds for open endpoints too.' },
  {
    step: clientCertificatesUnlessRequired,
    why: 'Known from the connection, before anything the call says is believed.',
  },
  {
    step: organisationLimitsStep,
    why: 'Counts whatever reaches the APIs of an organisation, before it costs a credential check.',
  },
  { step: sizeLimitStep, why: 'Before anything reads a body; open endpoints have bodies too.' },
  { step: contextVariablesStep, why: 'Before any credential is taken away; what later steps find out is added to it.' },
  {
    step: securityRequirementsStep,
    why: 'Takes the place of the ways in below where any of several requirements will do.',
  },
  {
    step: unlessRequirements(oauthTokenStep),
    why: 'Ways in have one order, so that with several of them the last one’s session is always the same.',
  },
  { step: unlessRequirements(externalOAuthStep), why: 'After the gateway’s own access tokens: see there.' },
  { step: unlessRequirements(basicAuthStep), why: 'After external access tokens: see there.' },
  { step: unlessRequirements(hmacStep), why: 'After basic authentication: see there.' },
  { step: unlessRequirements(jwtStep), why: 'After signed calls: see there.' },
  { step: unlessRequirements(oidcStep), why: 'After signed tokens: see there.' },
  { step: unlessRequirements(authTokenStep), why: 'The last way in: see access tokens.' },
  { step: bearerTokenStep, why: 'The ways in have verified what they verify; afterwards it may be taken away.' },
  { step: stripAuthStep, why: 'Every way in has read what it needed.' },
  { step: keyStateStep, why: 'The first question about the key that was found, whichever way in found it.' },
  { step: accessRightsStep, why: 'A key in force may still be for other APIs.' },
  {
    step: rateLimitsEndpointStep,
    why: 'Every key that may call the API may ask for its limits, without using them up.',
  },
  { step: allowedUrlsStep, why: 'A right to the API may be to some endpoints only.' },
  { step: keyLimitsStep, why: 'Only calls that would be let through count against a key.' },
  { step: scopeCheckStep, why: 'The last question about the caller; a token without a right is counted like others.' },
  { step: tokenExchangeStep, why: 'Only for calls that may go on: asking a provider costs more than all before it.' },
  { step: apiLimitsStep, why: 'After the limits of the key, so that one caller cannot use up the API for the others.' },
  { step: upstreamAuthStep, why: 'Every way in has read the credential of the caller, in whose place this one goes.' },
  { step: validateJsonStep, why: 'After all limits: reading a body costs more than counting a call.' },
  { step: validateRequestStep, why: 'Sees the call as its sender wrote it, before anything of it is changed.' },
  {
    step: transformRequestBodyStep,
    why: 'Only what was checked is written anew; headers may then say what it became.',
  },
  { step: transformRequestJqStep, why: 'After templates: a filter works on what they wrote.' },
  { step: requestHeadersStep, why: 'After all that reads headers the caller sent.' },
  { step: urlRewriteStep, why: 'Sees the body and context as they will be sent; done at the end.' },
  { step: methodTransformStep, why: 'After the rewrite, which knows endpoints by the method that was asked for.' },
  {
    step: mockResponseStep,
    why: 'Whoever may not call gets no mock either; it goes out like an answer of the upstream.',
  },
  { step: transformResponseBodyStep, why: 'The first on the way out: what others look at is what callers will get.' },
  { step: transformResponseJqStep, why: 'After templates, as on the way in.' },
  { step: responseHeadersStep, why: 'On the way out: after the body was written anew, before anything is kept.' },
  { step: responseProcessorsStep, why: 'After the headers that definitions set: those may name the upstream too.' },
  { step: errorOverridesStep, why: 'On the way out: has the last word on an answer before it is kept.' },
  {
    step: cacheStep,
    why: 'Whoever may not call gets nothing that was kept either; after all that changes what is asked for.',
  },
  { step: requestSigningStep, why: 'What is signed is what is sent: nothing changes a call after it.' },
  { step: enforcedTimeoutStep, why: 'The time of the upstream begins when the call is on its way there.' },
  { step: serviceDiscoveryStep, why: 'Hears what became of calls to hosts that a registry named.' },
  { step: circuitBreakerStep, why: 'Last: only calls that would reach the upstream try it, and tell how it does.' },
  { step: rateLimitHeadersStep, why: 'The last word on the way out: what upstreams say of limits is not ours.' },
];
