import type { ResultOf } from '../../kit/calls.ts';

/** Facts of a key for lists. */
export interface KeyFacts {
  /** Id that operations accept. */
  readonly id: string;
  readonly hash: string;
  readonly alias: string;
  readonly policies: readonly string[];
  readonly apis: readonly string[];
  readonly rate: number;
  readonly per: number;
  readonly expires: number;
  readonly isInactive: boolean;
  readonly createdAt: string;
}

type KeyItem = ResultOf<'GET /api/keys/detailed'>['keys'][number];

export function toKeyFacts({ data, key_id: id, key_hash }: KeyItem): KeyFacts {
  const rights = Object.entries(data.access_rights ?? {});
  return {
    id,
    hash: key_hash,
    alias: data.alias ?? '',
    policies: data.apply_policies ?? [],
    apis: rights.map(([apiId, right]) => right?.api_name || apiId),
    rate: data.rate ?? 0,
    per: data.per ?? 0,
    expires: data.expires ?? 0,
    isInactive: data.is_inactive ?? false,
    createdAt: data.date_created ?? '',
  };
}
