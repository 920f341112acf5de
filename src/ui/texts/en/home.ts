/** Texts of the home page. */
export const homeTexts = {
  title: 'Home',
  requests: 'Requests, last 24 h',
  errorRate: 'Error rate',
  apis: 'APIs',
  latency: 'Mean latency',
  traffic: 'Traffic',
  trafficSummary: (requests: string, errors: string) =>
    `${requests} requests and ${errors} errors in the last 24 hours`,
  hits: 'Requests',
  errors: 'Errors',
  noTraffic: 'No requests in the last 24 hours.',
  topApis: 'Busiest APIs',
  changes: 'Recent changes',
  noChanges: 'No changes yet.',
  noPermissions: 'You have no permissions',
  noPermissionsAbout: (user: string) =>
    `You are signed in as ${user}. An administrator of your organisation can grant permissions, ` +
    'or map a group of your identity provider.',
  start: 'Publish your first API',
  startAbout: 'The introduction leads from nothing to a protected API with its first requests.',
  startAction: 'Start the introduction',
  startWithout: 'New API without the introduction',
  protect: 'Require a key',
  protectHelp: 'Requests without a key get 401, with an unknown one 403.',
} as const;
