import { closestMatch } from '#base/closest-match.ts';
import type { Model } from './model.ts';

/** Context variables that the gateway sets. */
const contextNames: readonly string[] = [
  'request_data',
  'headers',
  'path',
  'path_parts',
  'remote_addr',
  'request_id',
  'token',
  'gw_trace_id',
  'rate_limit_limit',
  'rate_limit_remaining',
  'rate_limit_reset',
  'quota_limit',
  'quota_remaining',
  'quota_reset',
];
const prefixedName = /^(?:request_data_|headers_|cookies_|jwt_claims_|trigger-)./;

/** True for a context variable of the gateway: one that needs nothing in the definition. */
export const isGatewayContextName = (name: string): boolean => contextNames.includes(name) || prefixedName.test(name);

/** Message for a context variable that no request has, with the nearest name. */
export function describeUnknownContextName(name: string): string {
  const meant = closestMatch(name, contextNames);
  return `the context variable ${name} does not exist${meant === undefined ? '' : `: did you mean ${meant}?`}`;
}

/**
 * Creates the check for names of context variables, so that a misspelt name fails at load. jq programs set any name, and
 * responses of token servers those the definition lists; all others are known.
 */
export function createContextNameCheck(model: Model): (name: string) => boolean {
  const { versions, upstreamClientCredentials, upstreamPassword } = model;
  const isOpen = versions.some(
    ({ endpoints }) => endpoints.transformJq.length > 0 || endpoints.transformJqResponse.length > 0,
  );
  if (isOpen) return () => true;
  const replied = [...upstreamClientCredentials.extraMetadata, ...upstreamPassword.extraMetadata];
  return name => isGatewayContextName(name) || replied.includes(name);
}
