import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { createLog } from '#base/log.ts';
import { readSettings } from '#base/settings.ts';
import type { ForwardedRequest } from '#operations/in-process-request.ts';
import { createListener } from '../server/listener.ts';
import { createTransports } from '../server/transports.ts';
import type { StepServices } from '../steps/step-services.ts';
import { withControlApi } from './control-api-proxy.ts';

describe('control API on the traffic port', () => {
  const settings = readSettings({
    flags: {
      'gateway.control_on_traffic_port': 'true',
      'gateway.trusted_proxies': '127.0.0.1',
      'gateway.client_claim_headers': 'x-tenant,x-gw-*,x-who-*,!remote-user',
    },
  });
  const log = createLog({ level: 'error', format: 'json' });
  const carried: ForwardedRequest[] = [];
  /** Responds like the main thread, and records the requests. */
  const rpc = (async (_name: string, given: ForwardedRequest) => {
    carried.push(given);
    return { status: 200, headers: [], body: Buffer.alloc(0) };
  }) as unknown as StepServices['rpc'];
  const handler = withControlApi({ settings, rpc, log }, { handle: () => assert.fail('went on to the APIs') });
  const transports = createTransports({ handler, settings, clock: systemClock, log });
  const listener = createListener({
    http1: transports.http1,
    apiPort: 0,
    firstByteTimeoutMs: 5000,
    maxConnections: 10,
  });

  after(async () => {
    transports.close();
    await listener.close();
  });

  test('client claims named by the setting are dropped, those it excludes are forwarded', async () => {
    const port = await listener.listen({ host: '127.0.0.1', port: 0, reusePort: false });
    const names = ['X-Tenant', 'X-Who-Am-I', 'X-Remote-User', 'X-Forwarded-For', 'Remote-User', 'X-Gw-Authorization'];
    const headers = Object.fromEntries(names.map(name => [name, '192.0.2.1']));
    await fetch(`http://127.0.0.1:${port}/gw/apis`, { headers });
    const [{ headers: flat } = { headers: [] }] = carried;
    assert.deepEqual(flat.filter((_, at) => flat[at + 1] === '192.0.2.1').sort(), [
      'remote-user',
      'x-gw-authorization',
    ]);
  });
});
