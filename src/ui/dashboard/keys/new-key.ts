import type { ArgumentsOf } from '../../kit/calls.ts';

export type KeyBody = ArgumentsOf<'POST /api/keys'>['body'];

export interface GrantedApi {
  readonly id: string;
  readonly name: string;
}

export interface KeyDraft {
  readonly alias: string;
  readonly policies: readonly string[];
  readonly apis: readonly GrantedApi[];
  /** Absent: no limit. */
  readonly rate?: number | undefined;
  readonly per?: number | undefined;
  /** Unix seconds; 0 never. */
  readonly expires: number;
}

const versions = ['Default'];

export const buildKey = ({ alias, policies, apis, rate = 0, per = 0, expires }: KeyDraft): KeyBody => ({
  alias,
  apply_policies: [...policies],
  access_rights: Object.fromEntries(apis.map(({ id, name }) => [id, { api_id: id, api_name: name, versions }])),
  rate,
  per,
  allowance: rate,
  quota_max: -1,
  expires,
});
