import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './harness.ts';

/** The walk through the product that README.md shows, run as it is written. */
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!);

/** The answers the page promises, as patterns: `…` stands for anything. */
const promised = [...blocks.join('\n').matchAll(/^# → (.*)$/gm)].map(([, text]) => {
  const escaped = text!.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/…|<the access key>/g, '[\\s\\S]*?');
  return new RegExp(escaped);
});

describe('README.md', () => {
  let app: TestApp;
  before(async () => {
    app = await startApp('sqlite');
  });
  after(() => app.close());

  test('its walk through the product does what it says', async () => {
    assert.ok(promised.length >= 8);
    const script = `set -euo pipefail\n${blocks.join('\n')}`;
    const { code, output } = await run(script, {
      DASHBOARD: app.url.dashboard,
      PORTAL: app.url.portal,
      GATEWAY: app.url.gateway,
      DATA: app.directory,
    });
    assert.equal(code, 0, output);
    for (const answer of promised) assert.match(output, answer);
  });

  test('it names the two commands, and the test command is what CI runs', () => {
    assert.match(readme, /npm ci && npm start/);
    const ci = readFileSync(new URL('../.ci/run', import.meta.url), 'utf8');
    assert.match(readme, /npm ci && npm test/);
    assert.match(ci, /^npm ci && npm test$/m);
  });
});

function run(script: string, environment: Record<string, string>): Promise<{ code: number; output: string }> {
  const path = `${dirname(process.execPath)}:${process.env.PATH}`;
  const child = spawn('bash', ['-c', script], {
    env: { ...environment, PATH: path },
    cwd: join(import.meta.dirname, '..'),
  });
  let output = '';
  child.stdout.on('data', chunk => (output += chunk));
  child.stderr.on('data', chunk => (output += chunk));
  return new Promise(resolve => child.on('close', code => resolve({ code: code ?? 1, output })));
}
