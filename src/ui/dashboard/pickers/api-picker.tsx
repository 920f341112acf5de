import type { ArgumentsOf } from '../../kit/calls.ts';
import { PickList, type PickListProps } from '../../kit/pick-list.tsx';
import { useOperation } from '../../kit/queries.ts';
import { texts } from '../../texts/texts.ts';
import { type ApiOutline, toApiOutline } from '../apis/api-outline.ts';

const own = texts.pickers;
type Choice = Pick<PickListProps, 'chosen' | 'onChange' | 'isDisabled'>;

export interface ApiPickerProps extends Choice {
  readonly title?: string;
  /** Absent: APIs of both formats. */
  readonly format?: 'oas';
  /** Why an API cannot be chosen. */
  reasonOf?(api: ApiOutline): string | undefined;
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
