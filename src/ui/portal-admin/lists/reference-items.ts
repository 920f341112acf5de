import type { PickItem } from '../../kit/pick-list.tsx';
import { useOperation } from '../../kit/queries.ts';

/** Objects of a choice without a search on the server: the newest ones. */
const maxItems = 1000;
const given = { query: { page: 1, per_page: maxItems } };
/** Objects that a search on the server offers at once. */
const maxFound = 100;
const search = (text: string) => ({ query: { page: 1, per_page: maxFound, q: text.trim() } });

interface FoundItems {
  readonly items: readonly PickItem[] | undefined;
  readonly error: Error | null;
}

const filterItems = (items: readonly PickItem[] | undefined, text: string) =>
  items?.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()));

interface NamedRow {
  readonly ID: number;
  readonly Name: string;
  readonly DisplayName: string;
}

const toItem = ({ ID, Name, DisplayName }: NamedRow): PickItem => ({
  id: String(ID),
  name: DisplayName || Name,
  kind: Name,
});

/** Choices of forms by a text; equal reads share one request. */

export function useProductItems(text: string): FoundItems {
  const { data, error } = useOperation('GET /portal-api/products', search(text), { keepPrevious: true });
  return { items: data?.value.map(toItem), error };
}

export function usePlanItems(text: string): FoundItems {
  const { data, error } = useOperation('GET /portal-api/plans', search(text), { keepPrevious: true });
  return { items: data?.value.map(toItem), error };
}

/** Users by a part of name or address. */
export function useUserItems(text: string): FoundItems {
  const { data, error } = useOperation('GET /portal-api/users', search(text), { keepPrevious: true });
  return { items: data?.value.map(it => ({ id: String(it.ID), name: describeUser(it) })), error };
}

export const describeUser = ({ First, Last, Email }: Readonly<Record<'First' | 'Last' | 'Email', string>>): string =>
  [`${First} ${Last}`.trim(), Email].filter(Boolean).join(', ');

export function useCatalogueItems(text: string): FoundItems {
  const { data, error } = useOperation('GET /portal-api/catalogues', given);
  const items = data?.value.map(it => ({ id: String(it.ID), name: it.Name, kind: it.Name }));
  return { items: filterItems(items, text), error };
}

export function useProviderItems(): FoundItems {
  const { data, error } = useOperation('GET /portal-api/providers', given);
  return { items: data?.value.map(it => ({ id: String(it.ID), name: it.Name })), error };
}

export function useOrganisationItems(): FoundItems {
  const { data, error } = useOperation('GET /portal-api/organisations', given);
  return { items: data?.value.map(it => ({ id: String(it.ID), name: it.Name })), error };
}

/** Choices of the stored names of an object: responses have names, writes take ids. */
export function chooseByName(items: readonly PickItem[], names: readonly string[]): readonly PickItem[] {
  const left = [...names];
  return items.filter(({ kind = '' }) => {
    const place = left.indexOf(kind);
    if (place >= 0) left.splice(place, 1);
    return place >= 0;
  });
}
