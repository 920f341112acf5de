import {
  keepPreviousData,
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import {
  type ArgumentsOf,
  CallError,
  type CallOptions,
  type CallResponse,
  callServer,
  type ReadRoute,
  type ResultOf,
  type WriteRoute,
} from './calls.ts';

const maxRetries = 2;
/** Younger results are shown without another request. */
const freshMs = 2000;

/** Retries what may pass: no response, or an error of the server. */
const canRetry = (failures: number, error: Error) =>
  failures < maxRetries && error instanceof CallError && (error.status === 0 || error.status >= 502);

export const createQueryClient = (): QueryClient =>
  new QueryClient({ defaultOptions: { queries: { retry: canRetry, staleTime: freshMs, refetchOnWindowFocus: true } } });

export interface QueryOptions {
  readonly enabled?: boolean;
  /** Shows the result of the previous arguments until the next one is there: pages and filters of a list. */
  readonly keepPrevious?: boolean;
  readonly refetchIntervalMs?: number;
}

/** Reads an operation: `useOperation('GET /api/apis', { query: { q } })`. Equal reads share one request. */
export const useOperation = <R extends ReadRoute>(
  route: R,
  given: ArgumentsOf<R>,
  { enabled = true, keepPrevious = false, refetchIntervalMs }: QueryOptions = {},
): UseQueryResult<CallResponse<ResultOf<R>>, CallError> =>
  useQuery({
    queryKey: [route, given],
    queryFn: ({ signal }) => callServer(route, given, { signal }),
    enabled,
    ...(keepPrevious ? { placeholderData: keepPreviousData } : {}),
    ...(refetchIntervalMs === undefined ? {} : { refetchInterval: refetchIntervalMs }),
  });

/** Ids of one request: the server accepts no more, and an address has a bound too. */
const maxIdsPerRead = 100;

/**
 * Reads an operation about many ids, in as few requests as the server accepts. Results are in the order of the ids;
 * undefined until all of them are there.
 */
export function useBatchedOperation<R extends ReadRoute>(
  route: R,
  ids: readonly string[],
  toArguments: (ids: string) => ArgumentsOf<R>,
  { enabled = true, refetchIntervalMs }: Pick<QueryOptions, 'enabled' | 'refetchIntervalMs'> = {},
): readonly ResultOf<R>[] | undefined {
  const batches = Array.from({ length: Math.ceil(ids.length / maxIdsPerRead) }, (_, place) =>
    ids.slice(place * maxIdsPerRead, (place + 1) * maxIdsPerRead).join(','),
  );
  const reads = useQueries({
    queries: batches.map(batch => {
      const given = toArguments(batch);
      return {
        queryKey: [route, given],
        queryFn: ({ signal }: { signal: AbortSignal }) => callServer(route, given, { signal }),
        enabled,
        ...(refetchIntervalMs === undefined ? {} : { refetchInterval: refetchIntervalMs }),
      };
    }),
  });
  const found = reads.flatMap(({ data }) => (data ? [data.value] : []));
  return found.length === batches.length ? found : undefined;
}

/** Repeats every read of the named routes that a page shows; rejects where one fails. */
export function useReload(reads: readonly ReadRoute[]): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await Promise.all(reads.map(it => client.invalidateQueries({ queryKey: [it] }, { throwOnError: true })));
  };
}

export interface WriteVariables<R extends WriteRoute> {
  readonly given: ArgumentsOf<R>;
  readonly options?: CallOptions;
}

/** Writes an operation; afterwards every read of the named routes is repeated. */
export function useWrite<R extends WriteRoute>(
  route: R,
  refreshes: readonly ReadRoute[] = [],
): UseMutationResult<CallResponse<ResultOf<R>>, CallError, WriteVariables<R>> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ given, options }: WriteVariables<R>) => callServer(route, given, options),
    onSuccess: async () => {
      await Promise.all(refreshes.map(it => client.invalidateQueries({ queryKey: [it] })));
    },
  });
}
