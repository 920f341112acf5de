import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { CallError, type CallResponse, callServer, toBodyOf } from '../../kit/calls.ts';
import type { CodeMark } from '../../kit/code-types.ts';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { useDebounced } from '../../kit/use-debounced.ts';
import { texts } from '../../texts/texts.ts';
import type { ApiOutline } from './api-outline.ts';
import { describeApplied } from './applied.ts';

const own = texts.apis;

/** A definition as it was read, with the entity tag that its write sends back. */
export interface StoredDefinition {
  readonly api: ApiOutline;
  readonly text: string;
  readonly etag: string | undefined;
}

type Parsed = { readonly value: unknown } | { readonly error: Error };

function parseDefinition(text: string): Parsed {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error: new Error(own.notJson((error as Error).message)) };
  }
}

const noMarks: readonly CodeMark[] = [];
const noFaults: readonly { readonly pointer: string; readonly message: string }[] = [];

/** Check of the server for the edited text: faults and warnings at their places. */
export function useDefinitionCheck(api: ApiOutline, text: string, isEnabled: boolean) {
  const wanted = useDebounced(text);
  const parsed = useMemo(() => parseDefinition(wanted), [wanted]);
  const isParsed = 'value' in parsed;
  const { data, error } = useQuery({
    queryKey: ['POST /api/apis/check', api.id, wanted],
    enabled: isEnabled && isParsed,
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const value = isParsed ? parsed.value : undefined;
      const body = toBodyOf<'POST /api/apis/check'>(
        api.format === 'classic' ? { api_definition: value } : { oas: value },
      );
      const given = { query: { api_id: api.id }, body };
      return (await callServer('POST /api/apis/check', given, { signal })).value;
    },
  });
  const marks = useMemo<readonly CodeMark[]>(
    () =>
      data
        ? [...data.faults.map(it => ({ ...it, level: 'error' as const })), ...data.warnings].map(
            ({ pointer, message, level }) => ({ pointer, message, level }),
          )
        : noMarks,
    [data],
  );
  return {
    marks,
    error: isEnabled && !isParsed ? parsed.error : error,
    faults: data?.faults ?? noFaults,
    isValid: isParsed && wanted === text && data?.valid === true,
    summary: data && wanted === text ? (data.valid ? own.checked : own.faults(data.faults.length)) : '',
  };
}

const refreshed = [
  'GET /api/apis',
  'GET /api/apis/{apiId}',
  'GET /api/apis/{apiId}/status',
  'GET /api/apis/{apiId}/graphql/schema',
  'GET /api/revisions/apis/{apiId}',
] as const;

/** Routes that replace a definition, by its format. */
export const definitionRoutes = {
  classic: 'PUT /api/apis/{apiId}',
  oas: 'PUT /api/apis/oas/{apiId}',
  streams: 'PUT /api/apis/streams/{apiId}',
} as const;

/** Saves a definition with the entity tag of its read; a conflict is reported, not overwritten. */
export function useDefinitionSave({ api, etag, text: before }: StoredDefinition, onSaved: () => void) {
  const toasts = useToasts();
  const [isConflict, setConflict] = useState(false);
  const route = definitionRoutes[api.format];
  const { mutate, error, isPending, reset } = useWrite(route, refreshed);
  const toWrite = (saved: string, ifMatch: string | undefined, note?: string) => {
    const value: unknown = JSON.parse(saved);
    const body = toBodyOf<typeof route>(api.format === 'classic' ? { api_definition: value } : value);
    return { given: { params: { apiId: api.id }, body }, options: { wait: 'applied' as const, ifMatch, note } };
  };
  const undo = (savedTag: string | undefined) =>
    mutate(toWrite(before, savedTag), { onError: failure => toasts.showError(failure.message) });
  const run = (text: string, isForced: boolean, note: string) => {
    mutate(toWrite(text, isForced ? undefined : etag, note), {
      onSuccess: ({ headers, etag: savedTag }: CallResponse<unknown>) => {
        setConflict(false);
        const action = { label: own.undo, onSelect: () => undo(savedTag) };
        toasts.showSuccess(`${own.saved(api.name)}. ${describeApplied(headers)}`, action);
        onSaved();
      },
      onError: failure => setConflict(failure instanceof CallError && failure.status === 412),
    });
  };
  const clear = () => {
    setConflict(false);
    reset();
  };
  return { run, isConflict, error: isConflict ? null : error, isPending, reset: clear };
}
