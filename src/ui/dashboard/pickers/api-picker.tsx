import type { ArgumentsOf } from '../../kit/calls.ts';
import { PickList, type PickListProps } from '../../kit/pick-list.tsx';
import { useOperation } from '../../kit/queries.ts';
import { texts } from '../../texts/texts.ts';
import { type ApiOutline, toApiOutline } from '../apis/api-outline.ts';
import { usePermission } from '../session/session.ts';

const own = texts.pickers;
/** APIs whose names one read returns: those of a page of a list. */
const maxNamedApis = 200;
type Choice = Pick<PickListProps, 'chosen' | 'onChange' | 'isDisabled'>;

export interface ApiPickerProps extends Choice {
  readonly title?: string;
  /** Absent: APIs of both formats. */
  readonly format?: 'oas';
  /** Why an API cannot be chosen. */
  reasonOf?(api: ApiOutline): string | undefined;
}

/** Names of APIs by id; ids stand for names without permission to read APIs, and for MCP proxies. */
export function useApiNames(ids: readonly string[]): (id: string) => string {
  const canRead = usePermission('apis');
  const apiIds = [...new Set(ids)].sort().slice(0, maxNamedApis).join(',');
  const query = { api_ids: apiIds, compressed: '1', p: -1 } as unknown as ArgumentsOf<'GET /api/apis'>['query'];
  const { data } = useOperation('GET /api/apis', { query }, { enabled: canRead && apiIds !== '', keepPrevious: true });
  const names = new Map((data?.value.apis ?? []).map(toApiOutline).map(api => [api.id, api.name]));
  return id => names.get(id) || id;
}

export function ApiPicker({ title = own.apis, format, reasonOf, ...rest }: ApiPickerProps) {
  const useItems = (q: string) => {
    const query = { q, sort: 'name', format } as ArgumentsOf<'GET /api/apis'>['query'];
    const { data, error } = useOperation('GET /api/apis', { query }, { keepPrevious: true });
    const items = data?.value.apis
      .map(toApiOutline)
      .map(api => ({ id: api.id, name: api.name, kind: api.authentication[0], reason: reasonOf?.(api) }));
    return { items, error };
  };
  return <PickList title={title} searchLabel={own.searchApis} empty={own.noApis} useItems={useItems} {...rest} />;
}
