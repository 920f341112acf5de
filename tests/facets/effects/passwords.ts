import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json-tree.ts';
import { hashPassword } from '#base/passwords.ts';
import { eventually } from '../../support/upstream.ts';
import {
  basic,
  basicUser,
  classic,
  keepsOut,
  letsIn,
  password,
  requireMethod,
  signCall,
  signingKey,
} from '../auth-methods.ts';
import type { Effect, Served } from '../effect.ts';

/** Callers send user name and password, or sign their calls. */

const header = { enabled: true, name: 'Authorization' };

/** A call signed some time from now. */
async function signRequestAt(at: Served, algorithm: string, fromNowMs: number): Promise<Record<string, string>> {
  const { text, headers } = signCall(await signingKey(at), algorithm, Date.now() + fromNowMs);
  return { ...headers, authorization: text };
}

/** What a call costs the process, in processor time: checking a password is dear by design, remembering it is not. */
async function cost(call: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await call();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
/** As much work as the check of a password. */
const checkPassword = () => hashPassword(password);
/** Far from both: a check costs a hundred times what a call costs without. */
const isChecked = (spent: number, check: number) => spent > check / 2;

export const passwords: readonly Effect[] = [
  {
    rows: 'basic.extractFromBody,userRegexp,passwordRegexp',
    promise: 'user and password can be extracted from the body by regular expressions',
    classic: () =>
      classic('basic', {
        basic_auth: {
          extract_from_body: true,
          body_user_regexp: '<user>(.*)</user>',
          body_password_regexp: '<word>(.*)</word>',
        },
      }),
    oas: () =>
      requireMethod('basic', {
        header,
        extractCredentialsFromBody: {
          enabled: true,
          userRegexp: '<user>(.*)</user>',
          passwordRegexp: '<word>(.*)</word>',
        },
      }),
    async observe(at) {
      const user = await basicUser(at);
      const body = `<user>${user}</user><word>${password}</word>`;
      await letsIn(at, '/thing', {}, { method: 'POST', body });
      await letsIn(at, '/thing', { authorization: basic(user) });
      for (const wrong of [
        body.replaceAll('user', 'who'),
        body.replaceAll('word', 'pass'),
        `${body.slice(0, -8)}x</word>`,
      ])
        await keepsOut(at, '/thing', {}, { method: 'POST', body: wrong });
    },
  },
  {
    rows: 'basic.disableCaching',
    promise: 'passwords are verified every time with caching disabled',
    classic: () => classic('basic', { basic_auth: { disable_caching: true } }),
    oas: () => requireMethod('basic', { header, disableCaching: true }),
    async observe(at) {
      const authorization = basic(await basicUser(at));
      const call = () => letsIn(at, '/thing', { authorization });
      await call();
      assert.ok(isChecked(await cost(call), await cost(checkPassword)));
    },
  },
  {
    rows: 'basic.cacheTTL',
    promise: 'verified passwords are cached for the configured TTL',
    classic: () => classic('basic', { basic_auth: { cache_ttl: 2 } }),
    oas: () => requireMethod('basic', { header, cacheTTL: 2 }),
    async observe(at) {
      const authorization = basic(await basicUser(at));
      const call = () => letsIn(at, '/thing', { authorization });
      await call();
      const check = await cost(checkPassword);
      await eventually(async () => assert.ok(!isChecked(await cost(call), check), 'it is not remembered'));
      await eventually(async () => assert.ok(isChecked(await cost(call), check), 'it is not checked again'));
    },
  },
  {
    rows: 'hmac.allowedAlgorithms,allowedClockSkewMs',
    promise: 'HMAC signatures need an allowed algorithm and a date within the clock skew',
    classic: () =>
      classic('hmac', { hmac_allowed_algorithms: ['hmac-sha384', 'hmac-sha512'], hmac_allowed_clock_skew: 600_000 }),
    oas: () =>
      requireMethod('hmac', {
        header,
        allowedAlgorithms: ['hmac-sha384', 'hmac-sha512'],
        allowedClockSkew: 600_000,
      } satisfies JsonObject),
    async observe(at) {
      for (const offset of [-500_000, 0, 500_000])
        await letsIn(at, '/thing', await signRequestAt(at, 'hmac-sha512', offset));
      await letsIn(at, '/thing', await signRequestAt(at, 'hmac-sha384', 0));
      await keepsOut(at, '/thing', await signRequestAt(at, 'hmac-sha256', 0));
      for (const offset of [-601_000, 700_000])
        await keepsOut(at, '/thing', await signRequestAt(at, 'hmac-sha512', offset));
    },
  },
];
