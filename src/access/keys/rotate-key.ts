import { createPublicId } from '#base/ids.ts';
import { formatKeyId } from './ids.ts';
import { changeKey, type IssuedKey, type KeyServices, removeKey, storeNewKey, toIssuedKey } from './issue.ts';
import { carryQuota, compileSession } from './live-quota.ts';
import { problem } from './problems.ts';
import type { Key } from './schema.ts';
import type { StoredKey } from './store.ts';

export interface RotatedKey {
  readonly issued: IssuedKey;
  /** Unix time until which the old key is accepted; 0 where it is removed. */
  readonly oldKeyExpires: number;
}

/** Reason why a key has no id that could be replaced; an expired key would become valid again. */
function describeFault({ kind, key }: StoredKey, nowSeconds: number): string | undefined {
  if (kind === 'basic') return 'the id of a basic-auth user is its name; set a new password';
  if (key.certificate) return 'its id derives from its certificate';
  if (isExpired(key, nowSeconds)) return 'it has expired';
  return undefined;
}

const isExpired = ({ expires = 0 }: Key, nowSeconds: number) => expires > 0 && expires < nowSeconds;

/** Copy for the new key: a signing secret is generated again, tokens of the old key stay with it. */
const toNewKey = ({ hmac_string: _secret, oauth_keys: _tokens, basic_auth_data: _user, ...key }: Key): Key => key;

/**
 * Rotation: issues a key with the same rights and limits and a new id, and lets the old one expire after the grace
 * period, or removes it without one. Both in one transaction. The new key has counters of its own, which begin with what
 * the old one has used of its quota: a rotation gives no fresh quota.
 */
export async function rotateStoredKey(
  services: KeyServices,
  stored: StoredKey,
  graceSeconds: number,
): Promise<RotatedKey> {
  const nowSeconds = Math.ceil(services.clock.now() / 1000);
  const reason = describeFault(stored, nowSeconds);
  if (reason !== undefined) throw problem.not_rotatable({ detail: { reason } });
  const { orgId } = stored;
  return services.keys.runInTransaction(async () => {
    const identity = { orgId, keyId: formatKeyId(orgId, createPublicId()), kind: 'token' } as const;
    const created = await storeNewKey(services, identity, toNewKey(stored.key));
    const session = await compileSession(services, stored);
    if (session) await carryQuota(services, { stored, session }, { stored: created, session });
    const issued = toIssuedKey(created);
    if (graceSeconds === 0) {
      if (!(await removeKey(services, stored))) throw problem.not_found();
      return { issued, oldKeyExpires: 0 };
    }
    const deadline = nowSeconds + graceSeconds;
    const old = await changeKey(
      services,
      stored,
      previous => ({
        ...previous,
        expires: previous.expires && previous.expires > 0 ? Math.min(previous.expires, deadline) : deadline,
      }),
      { suppressReset: true },
    );
    return { issued, oldKeyExpires: old.data.expires };
  });
}
