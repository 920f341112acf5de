import assert from 'node:assert/strict';
import type { Effect } from '../effect.ts';

/** Where an API listens, and to whom. */
export const server: readonly Effect[] = [
  {
    rows: 'listen.path,strip upstream.url',
    promise: 'the listen path is stripped from the upstream request',
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
    ownControl: 'the OpenAPI format is inactive unless it says otherwise; once it is active the API has a route',
    async observe({ call, change, format, upstream }) {
      assert.equal((await call()).status, 404);
      assert.equal(upstream.requests.length, 0);
      await change(format === 'classic' ? { active: true } : { info: { state: { active: true } } });
      assert.equal((await call()).status, 200);
    },
  },
  {
    rows: 'ipAccess.enabled,block,blockEnabled',
    promise: 'blocked IP addresses are refused',
    classic: () => ({ enable_ip_blacklisting: true, blacklisted_ips: ['127.0.0.0/8', '::1'] }),
    oas: () => ({ x: { server: { ipAccessControl: { enabled: true, block: ['127.0.0.0/8', '::1'] } } } }),
    async observe({ call, upstream }) {
      assert.equal((await call()).status, 403);
      assert.equal(upstream.requests.length, 0);
    },
  },
  {
    rows: 'ipAccess.allow,allowEnabled',
    promise: 'only allowed IP addresses are accepted',
    classic: () => ({ enable_ip_whitelisting: true, allowed_ips: ['10.0.0.0/8'] }),
    oas: () => ({ x: { server: { ipAccessControl: { enabled: true, allow: ['10.0.0.0/8'] } } } }),
    async observe({ call, change, format }) {
      assert.equal((await call()).status, 403);
      const list = ['10.0.0.0/8', '127.0.0.1', '::1'];
      await change(format === 'classic' ? { allowed_ips: list } : { server: { ipAccessControl: { allow: list } } });
      assert.equal((await call()).status, 200);
    },
  },
  {
    rows: 'ipAccess.controlDisabled',
    promise: 'disabled IP lists have no effect',
    classic: () => ({
      ip_access_control_disabled: true,
      enable_ip_blacklisting: true,
      blacklisted_ips: ['127.0.0.0/8', '::1'],
      enable_ip_whitelisting: true,
      allowed_ips: ['10.0.0.0/8'],
    }),
    async observe({ call }) {
      assert.equal((await call()).status, 200);
    },
  },
  {
    rows: 'gatewayTags.enabled,tags',
    promise: 'a gateway with segments serves the APIs tagged with one of them',
    settings: { 'gateway.segments': 'blue' },
    classic: () => ({ tags_disabled: false, tags: ['green', 'blue'] }),
    oas: () => ({ x: { server: { gatewayTags: { enabled: true, tags: ['green', 'blue'] } } } }),
    async observe({ call, change, format }) {
      const createTags = (enabled: boolean, tags: string[]) =>
        format === 'classic' ? { tags_disabled: !enabled, tags } : { server: { gatewayTags: { enabled, tags } } };
      assert.equal((await call()).status, 200);
      await change(createTags(true, ['green']));
      assert.equal((await call()).status, 404);
      await change(createTags(false, ['blue']));
      assert.equal((await call()).status, 404);
    },
  },
];
