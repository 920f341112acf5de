import { PickList, type PickListProps } from '../../kit/pick-list.tsx';
import { useOperation } from '../../kit/queries.ts';
import { texts } from '../../texts/texts.ts';

const own = texts.pickers;

export interface PolicyPickerProps extends Pick<PickListProps, 'chosen' | 'onChange' | 'isDisabled'> {
  readonly title?: string;
}

export function PolicyPicker({ title = own.policies, ...rest }: PolicyPickerProps) {
  return (
    <PickList title={title} searchLabel={own.searchPolicies} empty={own.noPolicies} useItems={usePolicies} {...rest} />
  );
}

function usePolicies(q: string) {
  const query = { ...(q ? { q } : {}), sort: 'name' as const };
  const { data, error } = useOperation('GET /api/portal/policies/search', { query }, { keepPrevious: true });
  const items =
    data && (data.value.Data ?? []).map(({ id, _id, name }) => ({ id: id || _id || '', name: name || id || '' }));
  return { items, error };
}

/** Names of policies by id; ids stand for names without permission to read policies. */
export function usePolicyNames(ids: readonly string[]): (id: string) => string {
  const policyIds = [...new Set(ids)].sort().join(',');
  const { data } = useOperation(
    'GET /api/portal/policies/search',
    { query: { policy_ids: policyIds, p: -1 } },
    { enabled: policyIds !== '', keepPrevious: true },
  );
  const names = new Map((data?.value.Data ?? []).map(({ id, _id, name }) => [id || _id || '', name]));
  return id => names.get(id) || id;
}
