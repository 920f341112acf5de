import { type PickItem, PickList } from '../../kit/pick-list.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { describeAuthentication } from './authentication-text.ts';

const own = adminTexts.products;

interface ProviderApiPickerProps {
  /** Empty before one is chosen. */
  readonly providerId: string;
  readonly chosen: readonly PickItem[];
  onChange(chosen: readonly PickItem[]): void;
}

/** Choice of APIs that the provider finds by their name. APIs of a product share one way of authentication. */
export function ProviderApiPicker({ providerId, chosen, onChange }: ProviderApiPickerProps) {
  const useItems = (text: string) => useProviderApis(providerId, text, chosen);
  if (providerId === '') return <p className="text-dim">{own.chooseProvider}</p>;
  return (
    <PickList
      title={own.columns.apis}
      searchLabel={own.searchApis}
      empty={own.noProviderApis}
      chosen={chosen}
      onChange={onChange}
      useItems={useItems}
    />
  );
}

function useProviderApis(provider_id: string, text: string, chosen: readonly PickItem[]) {
  const { data, error } = useOperation(
    'GET /portal-api/providers/{provider_id}/apis',
    { params: { provider_id }, query: { q: text.trim() } },
    { keepPrevious: true },
  );
  const items = data?.value.map(({ APIID, Name, ListenPath, AuthTypes }) => ({
    id: APIID,
    name: own.apiOf(Name, ListenPath),
    kind: describeAuthentication(AuthTypes),
  }));
  const kinds = chosen.map(({ id, kind }) => kind ?? items?.find(it => it.id === id)?.kind);
  const wanted = kinds.find(it => it !== undefined);
  const refuse = (kind: string) => (wanted !== undefined && kind !== wanted ? own.otherAuth(kind, wanted) : undefined);
  return { items: items?.map(it => ({ ...it, reason: refuse(it.kind) })), error };
}
