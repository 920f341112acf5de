/** Section of the settings in which a step is set up; endpoints have a page of their own. */
const sections: Readonly<Record<string, string>> = {
  'access-rights': 'authentication',
  'api-limits': 'limits',
  'client-certificates': 'authentication',
  'context-variables': 'traffic',
  'cors-headers': 'traffic',
  'error-overrides': 'errors',
  'external-oauth': 'authentication',
  'ip-access': 'authentication',
  'key-state': 'authentication',
  'plugin-auth': 'authentication',
  'post-auth-plugins': 'plugins',
  'post-plugins': 'plugins',
  'pre-plugins': 'plugins',
  'response-plugins': 'plugins',
  'size-limit': 'limits',
  'strip-auth': 'authentication',
  'token-exchange': 'authentication',
  'upstream-auth': 'upstream',
  alternatives: 'authentication',
  basic: 'authentication',
  bearer: 'authentication',
  cache: 'traffic',
  cors: 'traffic',
  discovery: 'upstream',
  expiry: 'info',
  hmac: 'authentication',
  jwt: 'authentication',
  oauth: 'authentication',
  oidc: 'authentication',
  route: 'server',
  token: 'authentication',
  upstream: 'upstream',
};
const endpointSteps = new Set([
  ...['allowed-urls', 'endpoint-access', 'rate-limits-endpoint', 'mock-response', 'validate-request', 'url-rewrite'],
  ...['transform-request-body', 'transform-response-body', 'method-transform', 'virtual-endpoint', 'circuit-breaker'],
  ...['enforced-timeout', 'endpoint-plugins', 'tracking', 'request-headers', 'response-headers', 'scope-check'],
]);

export type StepPlace = { readonly page: 'settings'; readonly section: string } | { readonly page: 'endpoints' };

/** Page on which a step is changed; undefined for one without settings of the API. */
export function findStepPlace(step: string): StepPlace | undefined {
  if (endpointSteps.has(step)) return { page: 'endpoints' };
  const section = Object.hasOwn(sections, step) ? sections[step] : undefined;
  return section === undefined ? undefined : { page: 'settings', section };
}
