import type { Model } from '#definition/model.ts';

/** The names of context variables that the gateway sets itself. */
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
 * Whether a context variable of this name can exist in an API. jq programs set any they like, and replies of token servers
 * those the definition lists; everything else is known beforehand, so that a misspelt name is found when it is loaded.
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
