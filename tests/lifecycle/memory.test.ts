import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { eventually, scratch } from '../support/gw-process.ts';
import { anyPorts, endLeftOver, plainEnvironment, run } from '../support/program-copy.ts';

const root = join(import.meta.dirname, '../..');
const { fresh, remove } = scratch('memory');
after(async () => {
  await endLeftOver();
  await remove();
});

/** With what V8 would keep of a start it is beyond 300 MB. */
const maxIdleKb = 240_000;

const readResidentKb = (pid: number) =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

test('an idle process with two traffic threads has returned the memory of its start', async () => {
  const environment = plainEnvironment({ ...anyPorts, GW_THREADS: '2', GW_DATA_DIR: fresh() });
  const started = run(['bin/gw', 'start'], root, environment);
  await started.until(/credentials\.json/);
  await eventually(() => readResidentKb(started.child.pid!) < maxIdleKb, 'the memory of the start is returned');
  assert.ok(readResidentKb(started.child.pid!) > 0);
  await started.stop();
});

/** Each thread holds the code that it loads, about six times the size of its files. */
const listModules = (file: string): string[] =>
  execFileSync(process.execPath, ['tests/support/list-modules.ts', file], { cwd: root, encoding: 'utf8' }).split('\n');

for (const [thread, file, notNeeded] of [
  [
    'the main thread',
    'src/application.ts',
    new RegExp(
      [
        '/src/demo/',
        '/gateway/steps/order\\.ts$',
        '/gateway/(graphql|mcp|validation)/',
        '/languages/(jq/jq|go-template/template|rego/rego|json-schema)',
        '/apis/convert/(?!operations|import-operations|formats|problems)',
        '/people/single-sign-on/(saml/(?!service-key|begin-logout)|oidc|ldap/(?!filter|ber))',
        '/operations/(mcp/route|docs/pages)\\.ts$',
      ].join('|'),
    ),
  ],
  [
    'a traffic thread',
    'src/gateway/runtime/thread.ts',
    new RegExp(
      [
        '/languages/(jq/jq|go-template/template|rego|json-schema)',
        '/gateway/(mcp|validation)/',
        // The loader of the engine, and what responds for it: 4 kB.
        '/gateway/graphql/(?!create-data-graph|lazy-engine|graphql-refusals|media-types)',
        '/gateway/cache/(http|response)-caching\\.ts$',
        '/gateway/auth/(basic|hmac|jwt|oidc|external-oauth|security-requirements)\\.ts$',
        '/gateway/plugins/(sandbox/sandbox|typescript/module-files)\\.ts$',
        '/gateway/(tracing/tracer|inspect/debug/run)\\.ts$',
        '/definition/rest-tools/rest-tools\\.ts$',
      ].join('|'),
    ),
  ],
] as const)
  test(`${thread} loads packages, interpreters and features only when they are used`, () => {
    const modules = listModules(file);
    assert.ok(modules.length > 300);
    const packages = /\/node_modules\/(graphql|jose|mmdb-lib|quickjs-wasi|re2js|undici|yaml|zod\/v4\/locales\/fr)\b/;
    assert.deepEqual(
      modules.filter(url => packages.test(url) || notNeeded.test(url)),
      [],
    );
  });
