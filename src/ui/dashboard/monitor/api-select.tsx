import { useOperation } from '../../kit/queries.ts';
import { SearchSelect } from '../../kit/search-select.tsx';
import { texts } from '../../texts/texts.ts';
import { toApiOutline } from '../apis/api-outline.ts';
import { useApiNames } from '../pickers/api-picker.tsx';
import { usePermission } from '../session/session.ts';

/** Filter by API, found by name. Without the permission to list APIs it has only the one of the address. */
interface ApiSelectProps {
  readonly apiId: string;
  onChange(apiId: string): void;
  /** Text of no choice, which a filter reads as all APIs. */
  readonly emptyLabel?: string;
}

export function ApiSelect({ apiId, onChange, emptyLabel = texts.logs.anyApi }: ApiSelectProps) {
  const nameOf = useApiNames(apiId === '' ? [] : [apiId]);
  return (
    <SearchSelect
      label={texts.logs.columns.api}
      emptyLabel={emptyLabel}
      value={apiId}
      valueLabel={apiId === '' ? '' : nameOf(apiId)}
      onChange={onChange}
      useOptions={useApis}
    />
  );
}

function useApis(q: string, isOpen: boolean) {
  const canRead = usePermission('apis');
  const query = { sort: 'name', compressed: '1', ...(q === '' ? {} : { q }) } as const;
  const { data, error } = useOperation('GET /api/apis', { query }, { enabled: canRead && isOpen });
  const options = canRead
    ? data?.value.apis.map(toApiOutline).map(({ id, name }) => ({ value: id, label: name || id }))
    : [];
  return { options, error, hasMore: (data?.value.pages ?? 1) > 1 };
}
