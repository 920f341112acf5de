import type { FastifyRequest } from 'fastify';
import type { Clock } from '#base/clock.ts';
import { isObject } from '#base/json-tree.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import { createIdempotencyStore, type IdempotentRequest } from '#storage/idempotency-store.ts';
import type { Records } from '#storage/records.ts';
import type { Actor } from './actor.ts';
import type { AnyOperation } from './operation.ts';
import { problem } from './problems.ts';

/** Result of a create: what its response and its audit record are made of. */
export interface CreateResult {
  readonly value: unknown;
  readonly object: string;
  readonly orgId: string;
}

/** A create under the key of its request; `isReplayed` is true where an earlier request created the object. */
export type RunOnce = (
  request: IdempotentRequest,
  create: () => Promise<CreateResult>,
) => Promise<CreateResult & { readonly isReplayed: boolean }>;

/** Printable ASCII; a longer key is a mistake. */
const keyPattern = /^[\x21-\x7e]{1,255}$/;
const purpose = 'idempotent response';

export interface IdempotencyServices {
  readonly records: Records;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly settings: Settings;
}

/**
 * Idempotent creates: the first request with a key creates, in one transaction with its stored response; a repetition
 * gets that response, and concurrent ones wait for it. Responses are sealed, since they may contain new credentials.
 */
export function createRunOnce({ records, vault, clock, settings }: IdempotencyServices): RunOnce {
  const store = createIdempotencyStore(records, {
    retentionMs: settings['management.idempotency_retention_seconds'] * 1000,
    maxKeysPerCaller: settings['management.max_idempotency_keys'],
  });
  const sealPurpose = (digest: string) => `${purpose}/${digest}`;
  return async (request, create) => {
    const nowMs = clock.now();
    // Before the transaction: concurrent removals of the same rows would lock them in different orders.
    await store.removeExpired(nowMs);
    return records.write(async () => {
      const stored = await store.claim(request, nowMs);
      if (stored) {
        if (stored.fingerprint !== request.fingerprint) throw problem.idempotency_key_reused();
        const result = JSON.parse(vault.open(stored.sealed, sealPurpose(request.digest))) as CreateResult;
        return { ...result, isReplayed: true };
      }
      const result = await create();
      await store.complete(request, vault.seal(JSON.stringify(result), sealPurpose(request.digest)));
      return { ...result, isReplayed: false };
    });
  };
}

/** True where a handler hashes a password of this body: of a user, or of a basic-auth key. */
function hasPassword(body: unknown): boolean {
  if (!isObject(body)) return false;
  const { password, basic_auth_data: basicAuth } = body;
  return Boolean(password) || (isObject(basicAuth) && Boolean(basicAuth.password));
}

/** Parsed body of a request, and the validated one, without an envelope. */
interface IdempotentBody {
  readonly rawBody: unknown;
  readonly body: unknown;
}

/**
 * The create that a request repeats; undefined without an Idempotency-Key. The fingerprint is of the parsed body:
 * boundaries of multipart forms and white space differ between repetitions. A POST that cannot be repeated refuses the
 * key: its client relies on it. Password hashing in the transaction would block the database for other callers.
 */
export function readIdempotentRequest(
  it: AnyOperation,
  { headers, url, method }: FastifyRequest,
  actor: Actor,
  { rawBody, body }: IdempotentBody,
  hash: (text: string) => string,
): IdempotentRequest | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || it.method !== 'POST') return undefined;
  if (!it.isRepeatable) throw problem.idempotency_key_unsupported();
  if (it.isRepeatable === 'without password' && hasPassword(body)) throw problem.idempotency_key_with_password();
  if (typeof key !== 'string' || !keyPattern.test(key)) throw problem.idempotency_key_invalid();
  const caller = hash(JSON.stringify([actor.surface, actor.orgId, actor.id]));
  return {
    caller,
    digest: hash(JSON.stringify([caller, key])),
    fingerprint: hash(JSON.stringify([method, url, rawBody])),
  };
}
