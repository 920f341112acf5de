import { problems } from '#base/problems.ts';

export const problem = problems('analytics', {
  owned_counts_only: {
    status: 403,
    message: 'access denied: owned_analytics shows counts of the APIs you own, not {what}',
  },
  percentile_rows_exceeded: {
    status: 400,
    message: 'More than {maxRows} stored counts in this range: shorten it, filter, or leave out percentiles',
  },
  reads_exceeded: { status: 429, message: 'The organisation has {max} usage queries in progress: try again later' },
  geo_database_unusable: { status: 500, message: 'analytics.geo_database: {path} cannot be used: {reason}' },
  log_not_found: { status: 404, message: 'Request not found: it was not recorded, or its record has expired' },
  api_not_found: { status: 404, message: 'API not found' },
});
