/** Texts of endpoints and upstream hosts on the overview of an API. */
export const apiTargetTexts = {
  topEndpoints: 'Top endpoints of the last 24 hours',
  endpoint: 'Endpoint',
  uptime: 'Upstream hosts in the last 24 hours',
  uptimeLink: 'Uptime of this API',
  noTests: 'The API has no uptime tests, or none has run yet.',
} as const;
