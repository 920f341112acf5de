import { FilterSelect } from '../../kit/field.tsx';
import { useOperation } from '../../kit/queries.ts';
import { texts } from '../../texts/texts.ts';
import { toApiOutline } from '../apis/api-outline.ts';
import { usePermission } from '../session/session.ts';

/** Filter by API. Without the permission to list APIs it has only the one of the address. */
interface ApiSelectProps {
  readonly apiId: string;
  onChange(apiId: string): void;
  /** Text of no choice, which a filter reads as all APIs. */
  readonly emptyLabel?: string;
}

export function ApiSelect({ apiId, onChange, emptyLabel = texts.logs.anyApi }: ApiSelectProps) {
  const canRead = usePermission('apis');
  const list = useOperation('GET /api/apis', { query: { sort: 'name' } }, { enabled: canRead });
  const known = (list.data?.value.apis ?? [])
    .map(toApiOutline)
    .map(({ id, name }) => ({ value: id, label: name || id }));
  const isMissing = apiId !== '' && !known.some(({ value }) => value === apiId);
  const own = isMissing ? [{ value: apiId, label: apiId }] : [];
  return (
    <FilterSelect
      label={texts.logs.columns.api}
      className="max-w-56"
      value={apiId}
      onChange={event => onChange(event.target.value)}
      options={[{ value: '', label: emptyLabel }, ...own, ...known]}
    />
  );
}
