import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json-tree.ts';
import { eventually } from '../support/upstream.ts';
import { mergeDeep, type Served } from './effect.ts';

/** Shared by effects: definitions in each format, and requests that observe them. */

export const version = (more: JsonObject): JsonObject => ({ version_data: { versions: { Default: more } } });
/** Endpoint lists of a classic definition. */
export const lists = (extended_paths: JsonObject): JsonObject => version({ use_extended_paths: true, extended_paths });
/** What the operation of GET /thing is given. */
export const operation = (feature: JsonObject) => ({ x: { middleware: { operations: { getThing: feature } } } });
export const global = (more: JsonObject) => ({ x: { middleware: { global: more } } });
export const place = { path: '/thing', method: 'GET', disabled: false };

/** An API that requires a key, in each format. */
export const requireKeyClassic = (more: JsonObject = {}): JsonObject => ({
  use_keyless: false,
  use_standard_auth: true,
  ...more,
});
export const requireKeyOas = (more: { x?: JsonObject } = {}) => ({
  components: { securitySchemes: { keys: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
  security: [{ keys: [] }],
  x: mergeDeep(
    { server: { authentication: { enabled: true, securitySchemes: { keys: { enabled: true } } } } },
    more.x ?? {},
  ) as JsonObject,
});

/** Members as the classic format spells them. */
export const snake = (bag: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(bag).map(([name, value]) => [name.replaceAll(/[A-Z]/g, it => `_${it.toLowerCase()}`), value]),
  );

type Headers = Record<string, string>;
export const statusOf = async ({ call }: Served, path?: string, headers: Headers = {}, method = 'GET') =>
  (await call(path, { headers, method })).status;

/** The statuses of as many calls, one after the other. */
export async function statuses(at: Served, count: number, path?: string, headers: Headers = {}): Promise<number[]> {
  const found: number[] = [];
  for (let n = 0; n < count; n++) found.push(await statusOf(at, path, headers));
  return found;
}

/** The log of the API's calls once so many are written, the newest first. */
export const calls = ({ app, id }: Served, count = 1) =>
  eventually(async () => {
    const { body } = await app.ask('GET', `/api/logs?start=0&end=9999999999&api_id=${id}`);
    assert.ok(body.data.length >= count);
    return body.data as {
      method: string;
      alias: string;
      path: string;
      track_path: boolean;
      expireAt: string;
      tags: string[];
      timestamp: string;
    }[];
  });
