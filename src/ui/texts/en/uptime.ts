import { pluralize } from '../pluralize.ts';

/** Texts of the page about uptime tests. */
export const uptimeTexts = {
  title: 'Uptime',
  list: 'Upstream hosts with uptime tests',
  columns: {
    api: 'API',
    host: 'Host',
    state: 'State',
    since: 'Since',
    checks: 'Last checks',
    day: '24 h',
    week: '7 d',
    month: '30 d',
    latency: 'Mean latency',
    tests: 'Tests',
    last: 'Last test',
  },
  stateFilter: 'State',
  anyState: 'Any state',
  up: 'Up',
  down: 'Down',
  failedOf: (failed: string, tests: string) => `${failed} of ${tests} failed`,
  uptimeOfRange: (share: string) => `Up for ${share} of the chosen time.`,
  checksAbout: (all: number, failed: number, down: number) =>
    `${pluralize(String(all), 'check')}: ${failed} failed, ${down} down`,
  noChecks: 'no checks',
  refresh: 'Refresh',
  emptyTitle: 'No uptime tests in this time',
  emptyAbout:
    'The gateway tests upstream hosts of APIs with uptime tests, and sends no requests to hosts that are down.',
  guide: 'Guide to upstreams',
  detail: (host: string) => `Host ${host}`,
  changes: 'Changes of the state, newest first',
  noChanges: 'The state did not change in this time.',
  status: (status: number) => `status ${status}`,
  openApi: 'Open the API',
} as const;
