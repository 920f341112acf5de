import { nowMs } from '../../kit/browser-clock.ts';
import type { ResultOf } from '../../kit/calls.ts';

export interface KeyApi {
  readonly id: string;
  /** As stored with the key; may be empty. */
  readonly name: string;
}

/** Facts of a key for lists and pages. */
export interface KeyFacts {
  /** Id that operations accept. */
  readonly id: string;
  readonly hash: string;
  readonly alias: string;
  readonly policies: readonly string[];
  /** APIs of its own rights. */
  readonly apis: readonly KeyApi[];
  readonly rate: number;
  readonly per: number;
  readonly quotaMax: number;
  readonly quotaLeft: number;
  readonly quotaRenews: number;
  readonly expires: number;
  readonly isInactive: boolean;
  readonly createdAt: string;
  readonly tags: readonly string[];
}

export type KeyEnvelopeItem = ResultOf<'GET /api/keys/{keyId}'>;
export type KeyData = KeyEnvelopeItem['data'];

export function toKeyFacts({ data, key_id: id, key_hash }: KeyEnvelopeItem): KeyFacts {
  const rights = Object.entries(data.access_rights ?? {});
  return {
    id,
    hash: key_hash,
    alias: data.alias ?? '',
    policies: data.apply_policies ?? [],
    apis: rights.map(([apiId, right]) => ({ id: apiId, name: right?.api_name ?? '' })),
    rate: data.rate ?? 0,
    per: data.per ?? 0,
    quotaMax: data.quota_max ?? 0,
    quotaLeft: data.quota_remaining ?? 0,
    quotaRenews: data.quota_renews ?? 0,
    expires: data.expires ?? 0,
    isInactive: data.is_inactive ?? false,
    createdAt: data.date_created ?? '',
    tags: data.tags ?? [],
  };
}

const shownHashChars = 8;
export const nameKey = ({ alias, hash, id }: Pick<KeyFacts, 'alias' | 'hash' | 'id'>): string =>
  alias || `…${(hash || id).slice(-shownHashChars)}`;

export const isExpiredKey = ({ expires }: Pick<KeyFacts, 'expires'>): boolean =>
  expires > 0 && expires * 1000 < nowMs();
