import assert from 'node:assert/strict';
import type { Effect } from '../effect.ts';

/** Where an API listens, and to whom. */
export const server: readonly Effect[] = [
  {
    rows: 'listen.path,strip upstream.url',
    promise: 'calls below the listen path reach the upstream without it',
    classic: ({ upstream, id }) => ({
      proxy: { listen_path: `/${id}`, strip_listen_path: true, target_url: `${upstream.url}/base` },
    }),
    oas: ({ upstream, id }) => ({
      x: { server: { listenPath: { value: `/${id}`, strip: true } }, upstream: { url: `${upstream.url}/base` } },
    }),
    async observe({ call }) {
      assert.equal((await call('/thing?a=1')).body.url, '/base/thing?a=1');
    },
  },
  {
    rows: 'identity.active',
    promise: 'an API that is not active has no route',
    classic: () => ({ active: false }),
    oas: () => ({ x: { info: { state: { active: false } } } }),
    async observe({ call, upstream }) {
      assert.equal((await call()).status, 404);
      assert.equal(upstream.requests.length, 0);
    },
  },
  {
    rows: 'ipAccess.enabled,block,blockEnabled',
    promise: 'blocked addresses are refused',
    classic: () => ({ enable_ip_blacklisting: true, blacklisted_ips: ['127.0.0.0/8', '::1'] }),
    oas: () => ({ x: { server: { ipAccessControl: { enabled: true, block: ['127.0.0.0/8', '::1'] } } } }),
    async observe({ call, upstream }) {
      assert.equal((await call()).status, 403);
      assert.equal(upstream.requests.length, 0);
    },
  },
];
