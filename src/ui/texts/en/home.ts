/** Texts of the home page. */
export const homeTexts = {
  title: 'Home',
  requests: 'Requests, last 24 h',
  earlier: (count: string) => `${count} in the 24 h before`,
  errorRate: 'Error rate',
  errorCount: (count: string) => (count === '1' ? '1 error' : `${count} errors`),
  latency: 'Latency, p95',
  meanLatency: (time: string) => `mean ${time}`,
  limited: 'Over a limit',
  limitedAbout: 'refused with 429',
  traffic: 'Traffic, last 24 h',
  noTraffic: 'No requests in the last 24 hours.',
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
