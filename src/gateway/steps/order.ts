import { basic } from '../auth/basic.ts';
import { bearer } from '../auth/bearer.ts';
import { externalOAuth } from '../auth/external-oauth.ts';
import { hmac } from '../auth/hmac.ts';
import { jwt } from '../auth/jwt.ts';
import { oauth } from '../auth/oauth/token-step.ts';
import { oidc } from '../auth/oidc.ts';
import { namedPolicies } from '../auth/required-policies.ts';
import { scopeCheck } from '../auth/scope-check.ts';
import { alone, alternatives, clientCertificatesAlone } from '../auth/security-requirements.ts';
import { token } from '../auth/token.ts';
import { tokenExchange } from '../auth/token-exchange.ts';
import { apiLimits } from '../limits/api-limits.ts';
import { keyLimits } from '../limits/key-limits.ts';
import { organisationLimits } from '../limits/organisation-limits.ts';
import { limitHeaders } from '../limits/rate-limit-headers.ts';
import type { Step } from '../pipeline/step.ts';
import { accessRights } from './access-rights.ts';
import { allowedUrls } from './allowed-urls.ts';
import { cache } from './cache.ts';
import { circuitBreaker } from './circuit-breaker.ts';
import { contextVariables } from './context-variables.ts';
import { cors, corsHeaders } from './cors.ts';
import { endpointAccess } from './endpoint-access.ts';
import { enforcedTimeout } from './enforced-timeout.ts';
import { errorOverrides } from './error-overrides.ts';
import { expiry } from './expiry.ts';
import { ipAccess } from './ip-access.ts';
import { keyState } from './key-state.ts';
import { methodTransform } from './method-transform.ts';
import { mockResponse } from './mock-response.ts';
import { pathParameters } from './path-parameters.ts';
import { rateLimitsEndpoint } from './rate-limits-endpoint.ts';
import { requestHeaders } from './request-headers.ts';
import { requestSigning } from './request-signing.ts';
import { responseHeaders } from './response-headers.ts';
import { responseProcessors } from './response-processors.ts';
import { discovery } from './service-discovery.ts';
import { sizeLimit } from './size-limit.ts';
import { stripAuth } from './strip-auth.ts';
import { tracing } from './tracing.ts';
import { tracking } from './tracking.ts';
import { transformRequestJq, transformResponseJq } from './transform-jq.ts';
import { transformRequestBody } from './transform-request-body.ts';
import { transformResponseBody } from './transform-response-body.ts';
import { unsupported } from './unsupported.ts';
import { upstreamAuth } from './upstream-auth.ts';
import { urlRewrite } from './url-rewrite.ts';
import { validateJson } from './validate-json.ts';
import { validateRequest } from './validate-request.ts';

/**
 * All steps, in the order a call meets them, each with the reason for its place. A step that has nothing to do for a
 * definition is not in that definition's chain.
 */
export interface Place {
  readonly step: Step;
  readonly why: string;
}

export const order: readonly Place[] = [
  { step: unsupported, why: 'An API that cannot be served as it is written is not served at all.' },
  { step: namedPolicies, why: 'Nor is one that gives its callers a policy nobody has.' },
  { step: corsHeaders, why: 'Pages of other origins may read refusals too, whichever step refuses.' },
  { step: tracing, why: 'Refusals are part of a trace as well.' },
  { step: expiry, why: 'What is no longer in service answers nobody, known or not.' },
  {
    step: pathParameters,
    why: 'Before the first rule about paths: what they say of a call must hold for both ways to read it.',
  },
  { step: tracking, why: 'Whatever becomes of the call, its record is kept or not as the definition says.' },
  { step: endpointAccess, why: 'Whether an endpoint is open decides what the steps after it ask.' },
  { step: cors, why: 'Browsers ask without credentials: before any is asked for, after what is closed to everybody.' },
  { step: ipAccess, why: 'Costs less than any credential, and holds for open endpoints too.' },
  { step: clientCertificatesAlone, why: 'Known from the connection, before anything the call says is believed.' },
  {
    step: organisationLimits,
    why: 'Counts whatever reaches the APIs of an organisation, before it costs a credential check.',
  },
  { step: sizeLimit, why: 'Before anything reads a body; open endpoints have bodies too.' },
  { step: contextVariables, why: 'Before any credential is taken away; what later steps find out is added to it.' },
  { step: alternatives, why: 'Takes the place of the ways in below where any of several requirements will do.' },
  {
    step: alone(oauth),
    why: 'Ways in have one order, so that with several of them the last one’s session is always the same.',
  },
  { step: alone(externalOAuth), why: 'After the gateway’s own access tokens: see there.' },
  { step: alone(basic), why: 'After external access tokens: see there.' },
  { step: alone(hmac), why: 'After basic authentication: see there.' },
  { step: alone(jwt), why: 'After signed calls: see there.' },
  { step: alone(oidc), why: 'After signed tokens: see there.' },
  { step: alone(token), why: 'The last way in: see access tokens.' },
  { step: bearer, why: 'The ways in have verified what they verify; afterwards it may be taken away.' },
  { step: stripAuth, why: 'Every way in has read what it needed.' },
  { step: keyState, why: 'The first question about the key that was found, whichever way in found it.' },
  { step: accessRights, why: 'A key in force may still be for other APIs.' },
  { step: rateLimitsEndpoint, why: 'Every key that may call the API may ask for its limits, without using them up.' },
  { step: allowedUrls, why: 'A right to the API may be to some endpoints only.' },
  { step: keyLimits, why: 'Only calls that would be let through count against a key.' },
  { step: scopeCheck, why: 'The last question about the caller; a token without a right is counted like others.' },
  { step: tokenExchange, why: 'Only for calls that may go on: asking a provider costs more than all before it.' },
  { step: apiLimits, why: 'After the limits of the key, so that one caller cannot use up the API for the others.' },
  { step: upstreamAuth, why: 'Every way in has read the credential of the caller, in whose place this one goes.' },
  { step: validateJson, why: 'After all limits: reading a body costs more than counting a call.' },
  { step: validateRequest, why: 'Sees the call as its sender wrote it, before anything of it is changed.' },
  { step: transformRequestBody, why: 'Only what was checked is written anew; headers may then say what it became.' },
  { step: transformRequestJq, why: 'After templates: a filter works on what they wrote.' },
  { step: requestHeaders, why: 'After all that reads headers the caller sent.' },
  { step: urlRewrite, why: 'Sees the body and context as they will be sent; done at the end.' },
  { step: methodTransform, why: 'After the rewrite, which knows endpoints by the method that was asked for.' },
  { step: mockResponse, why: 'Whoever may not call gets no mock either; it goes out like an answer of the upstream.' },
  { step: transformResponseBody, why: 'The first on the way out: what others look at is what callers will get.' },
  { step: transformResponseJq, why: 'After templates, as on the way in.' },
  { step: responseHeaders, why: 'On the way out: after the body was written anew, before anything is kept.' },
  { step: responseProcessors, why: 'After the headers that definitions set: those may name the upstream too.' },
  { step: errorOverrides, why: 'On the way out: has the last word on an answer before it is kept.' },
  {
    step: cache,
    why: 'Whoever may not call gets nothing that was kept either; after all that changes what is asked for.',
  },
  { step: requestSigning, why: 'What is signed is what is sent: nothing changes a call after it.' },
  { step: enforcedTimeout, why: 'The time of the upstream begins when the call is on its way there.' },
  { step: discovery, why: 'Hears what became of calls to hosts that a registry named.' },
  { step: circuitBreaker, why: 'Last: only calls that would reach the upstream try it, and tell how it does.' },
  { step: limitHeaders, why: 'The last word on the way out: what upstreams say of limits is not ours.' },
];
