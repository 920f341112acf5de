import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileKeySession } from '#access/keys/session.ts';
import { readSettings } from '#base/settings.ts';
import { classicToModel } from '#definition/model.ts';
import type { ClassicDefinition } from '#definition/wire-types.ts';
import type { InvalidPath } from '../http/path.ts';
import type { Exchange, RewrittenTarget } from '../pipeline/exchange.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import { buildUpstreamPath } from '../proxy/load-balancer.ts';
import { compileRewriteTarget, type RewriteContext } from './rewrite-target.ts';

const model = classicToModel({ proxy: { listen_path: '/shop/', strip_listen_path: true } } as ClassicDefinition);
const services = { settings: readSettings({}), isContextName: (_name: string) => true } as PipelineServices;
const context: RewriteContext = { model, version: model.versions[0]!, services };

interface Given {
  captures?: string[];
  meta?: Record<string, unknown>;
}

function fillTarget(target: string, { captures = [], meta = {} }: Given = {}): RewrittenTarget | InvalidPath {
  const call = {
    listenPath: '/shop/',
    context: {},
    session: compileKeySession({ meta_data: meta }, []),
  } as unknown as Exchange;
  const text = (group: number) => ['', ...captures][group] ?? '';
  return compileRewriteTarget(target, captures.length, context)(call, { text, asValue: text });
}

test('a rewrite target is a path, another upstream or another API', () => {
  assert.deepEqual(fillTarget('/b/$1?c=$2', { captures: ['x', 'y'] }), {
    address: undefined,
    path: '/b/x',
    query: 'c=y',
  });
  assert.deepEqual(fillTarget('/shop/b'), { address: undefined, path: '/b', query: '' });
  assert.deepEqual(fillTarget('/shopping/b'), { address: undefined, path: '/shopping/b', query: '' });
  const absolute = fillTarget('HTTPS://Other.Example:444/b') as RewrittenTarget;
  assert.deepEqual([absolute.address?.origin, absolute.path], ['https://other.example:444', '/b']);
  const loop = fillTarget('gw://name/b?a=1&method=post&check_limits=true&loop_limit=9') as RewrittenTarget;
  const { controls } = loop.address!;
  assert.deepEqual(controls, { query: 'a=1', method: 'POST', limit: 9, checksLimits: true });
  assert.deepEqual([loop.address?.loop, loop.path, loop.query], ['name', '/b', 'a=1']);
});

test('client input cannot set loop controls', () => {
  const { address } = fillTarget('gw://self/b?$1', {
    captures: ['method=DELETE&loop_limit=99&x=1'],
  }) as RewrittenTarget;
  assert.deepEqual(address?.controls, { query: 'x=1', method: '', limit: 0, checksLimits: false });
});

const hostile = fc
  .array(
    fc.constantFrom('..', '.', '/', '%2e', '%2F', '%5c', ';', '?', '&', '@', ':', 'a', '//', 'evil.example', '%23'),
    {
      maxLength: 8,
    },
  )
  .map(parts => parts.join(''));

/** As upstreams resolve it, of whatever mind they are. */
const climbs = (path: string) =>
  [path, decodeURIComponent(path), decodeURIComponent(path.replaceAll(/;[^/]*/g, ''))].some(spelling =>
    spelling.split(/[/\\]/).some(segment => segment === '.' || segment === '..'),
  );

test('captures and variables can neither leave the target path nor choose the host', () => {
  const targets = [
    '/base/in/$1',
    'http://up.example/base/in/$1/end?x=$2',
    'gw://self/base/in/$1$2',
    '/base/in/$gw_meta.v',
  ];
  fc.assert(
    fc.property(fc.constantFrom(...targets), hostile, hostile, (target, one, two) => {
      const result = fillTarget(target, { captures: [one, two], meta: { v: one } });
      if ('fault' in result) return;
      assert.ok(
        result.path.startsWith('/base/in') && !climbs(result.path),
        `${target} ${one} ${two} gave ${result.path}`,
      );
      assert.match(result.address?.origin ?? '', /^(?:http:\/\/up\.example)?$/);
      const call = { rewrittenTarget: result } as Exchange;
      const sent = buildUpstreamPath(call, { origin: '', host: '', path: '/own', query: '', loop: '' }, true, false);
      assert.ok(sent.startsWith('/own/base/in'), sent);
    }),
    { numRuns: 1000 },
  );
});

test('a capture in host position must be a host', () => {
  fc.assert(
    fc.property(hostile, one => {
      const result = fillTarget('http://$1.inside.example/x', { captures: [one] });
      if ('fault' in result) return;
      const { hostname } = new URL(result.address!.origin);
      assert.ok(hostname.endsWith('.inside.example'), `${one} gave ${hostname}`);
    }),
    { numRuns: 500 },
  );
});
