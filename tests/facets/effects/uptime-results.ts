import assert from 'node:assert/strict';
import { eventually } from '../../support/upstream.ts';
import type { Effect } from '../effect.ts';

/** How long results of uptime tests are kept. */
export const uptimeResults: readonly Effect[] = [
  {
    rows: 'uptimeTests.logRetentionSeconds',
    promise: 'results of tests are kept as long as the API says',
    settings: { 'uptime.interval_ms': '60' },
    classic: ({ upstream }) => ({
      uptime_tests: { check_list: [{ url: `${upstream.url}/health` }], config: { expire_utime_after: 1 } },
    }),
    oas: ({ upstream }) => ({
      x: {
        upstream: {
          uptimeTests: { enabled: true, tests: [{ url: `${upstream.url}/health` }], logRetentionPeriod: '1s' },
        },
      },
    }),
    async observe({ app, id }) {
      // The first result is written with the hour it counts in: a host without it is one whose result is kept no longer.
      await eventually(async () => {
        const { body } = await app.ask('GET', `/api/uptime?api_id=${id}`);
        assert.deepEqual(
          body.data.map(({ up, results }: { up: boolean; results: unknown[] }) => [up, results]),
          [[true, []]],
        );
      });
    },
  },
];
