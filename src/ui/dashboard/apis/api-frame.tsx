import { useParams } from '@tanstack/react-router';
import { type ReactNode, useCallback, useMemo } from 'react';
import type { ResultOf } from '../../kit/calls.ts';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { ApiHead } from './api-head.tsx';
import { type ApiOutline, toApiOutline } from './api-outline.ts';
import type { DraftSource } from './designer/use-draft.ts';
import { type FormObject, toJsonObject } from './form/json-members.ts';
import type { StoredDefinition } from './use-definition.ts';

/** One API as its pages read it. */
export interface LoadedApi extends DraftSource {
  readonly api: ApiOutline;
  /** The definition in its own format. */
  readonly definition: FormObject;
  /** The definition in the classic format, of either. */
  readonly classic: FormObject;
}

type ApiItem = ResultOf<'GET /api/apis/{apiId}'>;

function toStored(
  item: ApiItem,
  etag: string | undefined,
): StoredDefinition & Pick<LoadedApi, 'definition' | 'classic'> {
  const api = toApiOutline(item);
  const classic = toJsonObject(item.api_definition);
  const definition = api.format === 'classic' ? classic : toJsonObject(item.oas);
  return { api, text: JSON.stringify(definition, null, 2), etag, definition, classic };
}

/** Page about the API of the address: head and tabs, then its content once the API is loaded. */
export function ApiFrame({
  actions,
  children,
}: {
  actions?(api: ApiOutline): ReactNode;
  children(loaded: LoadedApi): ReactNode;
}) {
  const { apiId = '' } = useParams({ strict: false });
  const query = useOperation('GET /api/apis/{apiId}', { params: { apiId } });
  const { data, refetch } = query;
  const stored = useMemo(() => data && toStored(data.value, data.etag), [data]);
  const reload = useCallback(async () => {
    const { data: next } = await refetch();
    return next && toStored(next.value, next.etag);
  }, [refetch]);
  if (!stored) return <QueryState query={query} />;
  const { api, definition, classic } = stored;
  return (
    <ApiHead api={api} actions={actions?.(api)}>
      {children({ api, definition, classic, stored, reload })}
    </ApiHead>
  );
}
