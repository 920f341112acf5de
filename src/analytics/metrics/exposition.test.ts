import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counter, formatExposition, gauge, histogram } from './exposition.ts';

test('families are formatted with HELP, TYPE and one line per sample', () => {
  assert.equal(
    formatExposition([
      counter('gw_requests_total', 'Calls.', [{ labels: { api: 'a', status: '2xx' }, value: 3 }]),
      gauge('gw_threads', 'Threads.', [{ value: 2 }]),
    ]),
    `# HELP gw_requests_total Calls.
# TYPE gw_requests_total counter
gw_requests_total{api="a",status="2xx"} 3
# HELP gw_threads Threads.
# TYPE gw_threads gauge
gw_threads 2
`,
  );
});

test('histogram buckets are cumulative', () => {
  assert.equal(
    formatExposition([histogram('h', 'H.', [0.1, 1], [2, 3, 4], 12.5)]),
    `# HELP h H.
# TYPE h histogram
h_bucket{le="0.1"} 2
h_bucket{le="1"} 5
h_bucket{le="+Inf"} 9
h_sum 12.5
h_count 9
`,
  );
});

test('label values are escaped', () => {
  assert.match(
    formatExposition([gauge('g', 'G.', [{ labels: { it: 'a"b\\c\nd' }, value: 1 }])]),
    /^g\{it="a\\"b\\\\c\\nd"\} 1$/m,
  );
});

test('a family without samples is omitted', () => {
  assert.equal(
    formatExposition([counter('c', 'C.', []), gauge('g', 'G.', [{ value: Number.NaN }])]),
    '# HELP g G.\n# TYPE g gauge\ng NaN\n',
  );
});
