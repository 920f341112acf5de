import { useReload, useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';

const reads = [
  'GET /portal-api/providers',
  'GET /portal-api/providers/{provider_id}',
  'GET /portal-api/products',
  'GET /portal-api/plans',
] as const;

/** Synchronises a provider, or `all`; a failed one has another status afterwards, so that lists are read again too. */
export function useSynchronization() {
  const write = useWrite('PUT /portal-api/providers/{provider_id}/synchronize');
  const reload = useReload(reads);
  const toasts = useToasts();
  const synchronize = (provider_id: string) =>
    write.mutate(
      { given: { params: { provider_id } } },
      {
        onSuccess: () => toasts.showSuccess(adminTexts.providers.synchronized),
        onError: error => toasts.showError(error.message),
        onSettled: () => void reload(),
      },
    );
  return { isBusy: write.isPending, synchronize };
}
