import assert from 'node:assert/strict';
import { createPublicId } from '#base/ids.ts';
import { changeApi } from '../../src/apis/api/changes.ts';
import { operatorActor, type TestApp } from './app.ts';
import { eventually, type Upstream } from './upstream.ts';

/** A minimal classic definition: keyless, at a path of its own, with its listen path stripped. */
export function openApi(upstream: Pick<Upstream, 'url'>, more: Record<string, unknown> = {}): Definition {
  const { proxy, ...rest } = more as { proxy?: object };
  return {
    name: 'Test',
    api_id: createPublicId(),
    active: true,
    use_keyless: true,
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    ...rest,
    proxy: { listen_path: `/${createPublicId()}`, target_url: upstream.url, strip_listen_path: true, ...proxy },
  };
}

export interface Definition {
  [member: string]: unknown;
  api_id: string;
  proxy: { listen_path: string; [member: string]: unknown };
}

/** Publishes an API and waits until the gateway has it. Returns the address it answers at, without a final slash. */
export async function publish(app: TestApp, definition: Definition): Promise<string> {
  const { status, text, body } = await app.ask('POST', '/api/apis', { body: { api_definition: definition } });
  assert.equal(status, 200, text);
  await waitUntilApplied(app);
  assert.equal(body.ID, definition.api_id);
  return app.url.gateway + definition.proxy.listen_path.replace(/\/$/, '');
}

/** Replaces a classic definition as an earlier release stored it: without the checks of a write. */
export async function storeUnchecked(app: TestApp, orgId: string, definition: Definition): Promise<void> {
  const { services } = app.application.installation;
  const target = { actor: operatorActor, orgId, ref: definition.api_id };
  await changeApi(services, target, ({ wrapper }) => ({ kind: 'classic', definition, wrapper }) as never);
  await waitUntilApplied(app);
}

/** Waits until every traffic thread serves what was committed before the call. */
export const waitUntilApplied = (app: TestApp): Promise<void> => app.application.waitForDataPlane();

/** The reason why requests to this URL get 503, from the request explanation: responses do not carry it. */
export async function findUnavailableReason(app: TestApp, url: string, init: RequestInit = {}): Promise<string> {
  const headers = { 'x-gw-explain': app.credentials.gateway_secret };
  const reply = await fetch(url, { ...init, headers });
  assert.deepEqual([reply.status, JSON.parse(await reply.text()).error], [503, 'This API is not available']);
  const { id } = JSON.parse(reply.headers.get('x-gw-explanation') ?? '{}');
  const { body } = await app.ask('GET', `/gw/explain/${id}`);
  const [first] = body.logs.split('\n').map((line: string) => JSON.parse(line));
  return first.msg.replace(/^The API is not served: /, '');
}

export { eventually };
