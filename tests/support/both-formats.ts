import assert from 'node:assert/strict';
import { createPublicId } from '#base/ids.ts';
import type { TestApp } from './app.ts';
import { openApi, publish, waitUntilApplied } from './traffic.ts';
import type { Upstream } from './upstream.ts';

/** One API in both formats. */
export interface BothFormats {
  /** Members of the classic definition. */
  readonly classic: Record<string, unknown>;
  /** Members of `x-gw-api-gateway`, laid over the least there has to be. */
  readonly oas: Record<string, object>;
  /** Members of the OpenAPI document around it. */
  readonly document?: Record<string, unknown>;
}

export interface Published {
  readonly format: 'classic' | 'oas';
  readonly apiId: string;
  /** Where it answers, without a final slash. */
  readonly url: string;
}

/** Publishes it in each format and waits until the gateway has both. */
export async function publishBoth(
  app: TestApp,
  upstream: Pick<Upstream, 'url'>,
  definitions: BothFormats,
): Promise<Published[]> {
  const classic = openApi(upstream, definitions.classic);
  const url = await publish(app, classic);
  const apiId = `o${createPublicId()}`;
  const { server, info, ...rest } = definitions.oas;
  const gateway = {
    info: { id: apiId, name: apiId, state: { active: true }, ...info },
    upstream: { url: upstream.url },
    ...rest,
    server: { listenPath: { value: `/${apiId}/`, strip: true }, ...server },
  };
  const document = { openapi: '3.0.3', info: { title: apiId, version: '1' }, paths: {}, ...definitions.document };
  const reply = await app.ask('POST', '/gw/apis/oas', { body: { ...document, 'x-gw-api-gateway': gateway } });
  assert.equal(reply.status, 200, reply.text);
  await waitUntilApplied(app);
  return [
    { format: 'classic', apiId: classic.api_id, url },
    { format: 'oas', apiId, url: `${app.url.gateway}/${apiId}` },
  ];
}
