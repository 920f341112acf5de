import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { SettingName } from '#base/settings.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { openApi, publish } from '../support/traffic.ts';
import { type Received, startUpstream, type Upstream } from '../support/upstream.ts';
import { type Caller, call, statusesIn } from './raw.ts';

/** A keyless API at `/h` with its upstream below `/base`, and raw client connections. */
export interface Ground {
  readonly app: TestApp;
  readonly upstream: Upstream;
  readonly port: number;
  caller(): Promise<Caller>;
  /** Sends bytes and waits until the gateway ends the connection; returns its responses and the upstream's requests. */
  send(...parts: readonly (string | Uint8Array)[]): Promise<{ statuses: number[]; text: string; received: Received[] }>;
}

export interface Case {
  readonly name: string;
  readonly bytes: string;
  /** Status of the refusal, or any of several; the upstream receives no request. */
  readonly refused?: number | readonly number[];
  /** Requests expected at the upstream, in order. */
  readonly reaches?: readonly Partial<Reaches>[];
}

export interface Reaches {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  /** Values of headers by lower-case name; undefined is absent. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

const endsWithin = 15_000;

/** Declares tests that share one installation. */
export function onGround(
  title: string,
  declare: (ground: () => Ground) => void,
  settings: Partial<Record<SettingName, string>> = {},
): void {
  describe(title, () => {
    let made: Ground;
    const callers: Caller[] = [];
    before(async () => {
      const upstream = await startUpstream();
      const app = await startApp('sqlite', { settings: { 'log.level': 'error', ...settings } });
      await publish(app, openApi({ url: `${upstream.url}/base` }, { proxy: { listen_path: '/h' } }));
      const port = Number(new URL(app.url.gateway).port);
      const caller = async () => {
        const one = await call(port);
        callers.push(one);
        return one;
      };
      made = {
        app,
        upstream,
        port,
        caller,
        async send(...parts) {
          const before = upstream.requests.length;
          const one = await caller();
          for (const part of parts) one.send(part);
          let timer: NodeJS.Timeout | undefined;
          const late = new Promise<never>((_resolve, reject) => {
            timer = setTimeout(
              () => reject(new Error(`still open after: ${JSON.stringify(one.received())}`)),
              endsWithin,
            );
          });
          await Promise.race([one.closed, late]).finally(() => clearTimeout(timer));
          one.leave();
          return {
            statuses: statusesIn(one.received()),
            text: one.received(),
            received: upstream.requests.slice(before),
          };
        },
      };
    });
    after(async () => {
      for (const one of callers) one.leave();
      await made?.app.close();
      await made?.upstream.close();
    });
    declare(() => made);
  });
}

/** One test for each case of a table. */
export function holds(cases: readonly Case[], ground: () => Ground): void {
  for (const { name, bytes, refused, reaches } of cases) {
    test(name, async () => {
      const { statuses, received, text } = await ground().send(bytes);
      if (refused !== undefined) {
        assert.deepEqual(received, [], `reached the upstream: ${text}`);
        const allowed = typeof refused === 'number' ? [refused] : refused;
        if (allowed.length === 0) return assert.equal(text, '');
        assert.equal(statuses.length, 1, text);
        assert.ok(allowed.includes(statuses[0]!), text);
        return;
      }
      assert.equal(received.length, reaches!.length, text);
      for (const [at, expected] of reaches!.entries()) compare(received[at]!, expected);
      assert.ok(
        statuses.every(status => status === 200),
        text,
      );
    });
  }
}

function compare(got: Received, expected: Partial<Reaches>): void {
  for (const name of ['method', 'url', 'body'] as const)
    if (expected[name] !== undefined) assert.equal(got[name], expected[name]);
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    const all = got.rawHeaders.filter((_text, at, raw) => at % 2 === 1 && raw[at - 1]!.toLowerCase() === name);
    assert.equal(all.length > 0 ? all.join(' | ') : undefined, value, name);
  }
}

/** A complete GET request that closes its connection. */
export const get = (target: string, ...headers: readonly string[]): string =>
  [`GET ${target} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers, '', ''].join('\r\n');

export const post = (headers: readonly string[], body: string): string =>
  [`POST /h HTTP/1.1`, 'Host: x', 'Connection: close', ...headers, '', body].join('\r\n');
