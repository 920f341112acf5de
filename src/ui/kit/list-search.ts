import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';

/** State of a list in the address: text, order, page and filters. Unknown members are dropped. */
export type ListSearch<Filter extends string = never> = {
  readonly q?: string;
  readonly sort?: string;
  readonly p?: number;
} & { readonly [F in Filter]?: string };

const maxTextChars = 500;
const readText = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, maxTextChars) : '';

/** `validateSearch` of a list route: `readListSearch('state', 'format')`. */
export const readListSearch =
  <Filter extends string = never>(...filters: readonly Filter[]) =>
  (search: Record<string, unknown>): ListSearch<Filter> => {
    const named = ['q', 'sort', ...filters].map(name => [name, readText(search[name])] as const);
    const page = Number(search.p);
    return {
      ...Object.fromEntries(named.filter(([, text]) => text !== '')),
      ...(Number.isInteger(page) && page > 1 ? { p: page } : {}),
    } as ListSearch<Filter>;
  };

type Change = Readonly<Record<string, string | number | undefined>>;

/** Changes the state of the list in the address; every change but that of the page returns to page 1. */
export function useListChange() {
  const navigate = useNavigate();
  const change = useCallback(
    (next: Change) => {
      const merge = (before: object) =>
        Object.fromEntries(Object.entries({ ...before, p: undefined, ...next }).filter(([, value]) => value));
      void navigate({ to: '.', search: merge });
    },
    [navigate],
  );
  const onSearch = useCallback((q: string) => change({ q }), [change]);
  const clear = useCallback(() => void navigate({ to: '.', search: {} }), [navigate]);
  return { change, onSearch, clear };
}
