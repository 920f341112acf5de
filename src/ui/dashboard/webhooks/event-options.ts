import type { ArgumentsOf } from '../../kit/calls.ts';

export type SampleEvent = NonNullable<ArgumentsOf<'POST /api/hooks/preview'>['body']['event']>;

/** Events with sample data that a test or preview can have; common ones. */
const events: readonly SampleEvent[] = [
  'AuthFailure',
  'KeyExpired',
  'QuotaExceeded',
  'RatelimitExceeded',
  'VersionFailure',
  'UpstreamOAuthError',
  'HostDown',
  'HostUp',
  'TokenCreated',
  'TokenUpdated',
  'TokenDeleted',
  'TriggerExceeded',
  'BreakerTriggered',
];

export const eventOptions = events.map(value => ({ value, label: value }));
