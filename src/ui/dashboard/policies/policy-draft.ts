import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import { texts } from '../../texts/texts.ts';

const own = texts.policies;

export type PolicyData = ResultOf<'GET /api/portal/policies/{policyId}'>;
export type PolicyBody = ArgumentsOf<'POST /api/portal/policies'>['body'];
export type PolicyRight = NonNullable<NonNullable<PolicyData['access_rights']>[string]>;

export const idOfPolicy = ({ id, _id }: Pick<PolicyData, 'id' | '_id'>): string => id || _id || '';

/** State of a new policy; the expiry of keys is chosen by the user. */
export const emptyPolicy: PolicyData = {
  name: '',
  state: 'active',
  access_rights: {},
  rate: 100,
  per: 60,
  quota_max: -1,
  quota_renewal_rate: -1,
  throttle_interval: -1,
  throttle_retry_limit: -1,
  max_query_depth: -1,
  tags: [],
  meta_data: {},
};

export interface PolicyFormFault {
  readonly tab: 'access' | 'details';
  readonly field: 'apis' | 'name' | 'expiry';
  readonly text: string;
}

/** Part of the form on one tab. */
export interface PolicyPartProps {
  readonly value: PolicyData;
  change(some: Partial<PolicyData>): void;
  readonly isDisabled: boolean;
  /** This tab has the field of the name. */
  readonly hasName: boolean;
  /** Text of a fault by field. */
  faultOf(field: string): string | undefined;
  /** A field with text that is no JSON. */
  onFault(name: string, fault: string | undefined): void;
}

/** A new policy begins with its name; later it is one of the details. */
export const nameTab = (isNew: boolean): PolicyFormFault['tab'] => (isNew ? 'access' : 'details');

/** Faults that the page finds before the server does, each with its tab. */
export function findFaults(
  { name = '', access_rights, key_expires_in }: PolicyData,
  isNew: boolean,
): readonly PolicyFormFault[] {
  const hasApi = Object.keys(access_rights ?? {}).length > 0;
  return [
    ...(hasApi ? [] : [{ tab: 'access' as const, field: 'apis' as const, text: own.apiMissing }]),
    ...(name.trim() ? [] : [{ tab: nameTab(isNew), field: 'name' as const, text: own.nameMissing }]),
    ...(key_expires_in === undefined
      ? [{ tab: 'details' as const, field: 'expiry' as const, text: own.expiryMissing }]
      : []),
  ];
}

/** A copy under another name; ids, dates and the list form of the rights belong to the original. */
export function toCopy(policy: PolicyData): PolicyData {
  const { _id, id, org_id, date_created, last_updated, access_rights_array, ...rest } = policy;
  return { ...rest, name: own.copyOf(policy.name ?? '') };
}

/** Body of a write: the rights as a map only. */
export function toPolicyBody({ access_rights_array: _list, ...policy }: PolicyData): PolicyBody {
  return policy;
}

export const partNames = ['acl', 'rate_limit', 'quota', 'complexity'] as const;
export type PolicyScope = 'all' | 'parts' | 'per_api';

export const scopeOf = ({ partitions }: PolicyData): PolicyScope =>
  partitions?.per_api ? 'per_api' : partNames.some(name => partitions?.[name]) ? 'parts' : 'all';
