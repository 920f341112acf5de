import type { ResultOf } from '../../kit/calls.ts';
import { useReload, useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';

const reads = [
  'GET /portal-api/providers',
  'GET /portal-api/providers/{provider_id}',
  'GET /portal-api/providers/{provider_id}/synchronize',
  'GET /portal-api/providers/{provider_id}/synchronizations',
  'GET /portal-api/products',
  'GET /portal-api/plans',
] as const;

const own = adminTexts.providers;
type SyncCounts = ResultOf<'PUT /portal-api/providers/{provider_id}/synchronize'>['Products'];

/** `2 products added, 1 plan hidden`; empty where nothing changed. */
export const describeCounts = (products: SyncCounts, plans: SyncCounts): string =>
  (['Added', 'Changed', 'Hidden'] as const)
    .flatMap(name => [
      products[name] > 0 ? own.productCount(products[name], own.outcomes[name]) : '',
      plans[name] > 0 ? own.planCount(plans[name], own.outcomes[name]) : '',
    ])
    .filter(Boolean)
    .join(', ');

/** Synchronises a provider, or `all`; a failed one has another status afterwards, so that lists are read again too. */
export function useSynchronization() {
  const write = useWrite('PUT /portal-api/providers/{provider_id}/synchronize');
  const reload = useReload(reads);
  const toasts = useToasts();
  const synchronize = (provider_id: string) =>
    write.mutate(
      { given: { params: { provider_id } } },
      {
        onSuccess: ({ value: { Products, Plans } }) =>
          toasts.showSuccess(own.synchronized(describeCounts(Products, Plans))),
        onError: error => toasts.showError(error.message),
        onSettled: () => void reload(),
      },
    );
  return { isBusy: write.isPending, synchronize };
}
