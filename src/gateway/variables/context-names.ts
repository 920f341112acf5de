import type { Model } from '#definition/model.ts';

/** Context variables that the gateway sets. */
export const contextNames: readonly string[] = [
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
  return name => contextNames.includes(name) || prefixedName.test(name) || replied.includes(name);
}
