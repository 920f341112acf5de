import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createAgentNames, describeAgent } from './agent-name.ts';

describe('Agent name', () => {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  const cases: [string, string][] = [
    ['', ''],
    ['curl/8.5.0', 'curl'],
    ['python-requests/2.32', 'python-requests'],
    ['Go-http-client/1.1', 'Go-http-client'],
    ['node', 'node'],
    ['okhttp/4.12 (Android 14)', 'okhttp'],
    [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/126.0 Safari/537.36`, 'Chrome'],
    [`Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/126.0 Safari/537.36 Edg/126.0`, 'Edge'],
    [`Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/126.0 Safari/537.36 OPR/111.0`, 'Opera'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox'],
    ['Mozilla/5.0 (Macintosh) AppleWebKit/605.1 (KHTML, like Gecko) Version/17.4 Safari/605.1', 'Safari'],
    ['Mozilla/5.0 (compatible; Examplebot/2.1; +http://example.org/bot)', 'Examplebot'],
    ['Mozilla/5.0 (unknown)', 'Mozilla'],
    ['(no product)', 'other'],
    [`${'x'.repeat(500)}/1`, 'x'.repeat(40)],
  ];
  test('a browser is described with its system, any other client by its product', () => {
    const agents = [
      `Mozilla/5.0 (X11; Linux x86_64) ${webkit} HeadlessChrome/126.0 Safari/537.36`,
      `Mozilla/5.0 (Linux; Android 14) ${webkit} Chrome/126.0 Mobile Safari/537.36`,
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1 Version/17.4 Mobile Safari/604.1',
      'curl/8.5.0 (Linux)',
      '',
    ];
    assert.deepEqual(agents.map(describeAgent), ['Chrome on Linux', 'Chrome on Android', 'Safari on iOS', 'curl', '']);
  });

  const toName = createAgentNames();
  for (const [userAgent, name] of cases)
    test(`${userAgent.slice(0, 60) || 'no agent'} is counted as ${name || 'empty'}`, () => {
      assert.equal(toName(userAgent), name);
      assert.equal(toName(userAgent), name, 'cached');
    });
});
