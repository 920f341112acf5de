import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { CallError, callServer, type ResultOf, toBodyOf } from '../../../kit/calls.ts';
import { useWrite } from '../../../kit/queries.ts';
import { useToasts } from '../../../kit/toast.tsx';
import { importApiTexts } from '../../../texts/en/import-api.ts';
import { texts } from '../../../texts/texts.ts';
import { describeApplied } from '../applied.ts';
import type { FormObject } from '../form/json-members.ts';
import {
  compareOperations,
  type ImportDraft,
  type OperationDifference,
  readTitle,
  toImportCallQuery,
} from './import-options.ts';

export interface PreviewedImport {
  readonly document: FormObject;
  readonly faults: ResultOf<'POST /api/apis/check'>['faults'];
  /** Of an update; undefined for a new API. */
  readonly difference: OperationDifference | undefined;
}

const refreshed = ['GET /api/apis', 'GET /api/apis/{apiId}'] as const;

/** The document that the import would store, with the faults that would refuse it. */
async function previewImport(oas: FormObject, draft: ImportDraft): Promise<PreviewedImport> {
  const { apiId } = draft;
  const stored =
    apiId === '' ? undefined : (await callServer('GET /api/apis/oas/{apiId}', { params: { apiId } })).value;
  const body = toBodyOf<'POST /api/apis/oas/dry-run'>({ oas, ...(stored ? { gw_oas: stored } : {}) });
  const query = toImportCallQuery(draft);
  const { value: document } = await callServer('POST /api/apis/oas/dry-run', { query, body });
  const checked = {
    query: apiId === '' ? {} : { api_id: apiId },
    body: toBodyOf<'POST /api/apis/check'>({ oas: document }),
  };
  const { faults } = (await callServer('POST /api/apis/check', checked)).value;
  return { document, faults, difference: stored && compareOperations(stored, document) };
}

/** Refusal of a document, with pointer and line where the text is the document itself. */
async function placeRefusal(error: unknown, text: string | undefined, oas: FormObject): Promise<Error> {
  if (!(error instanceof CallError) || error.status !== 400 || text === undefined) return error as Error;
  const { placeFault } = await import('./fault-place.ts');
  return new Error(placeFault(text, oas, error.message));
}

/** Preview of an import, then the write that stores the same. `text` is that of an OpenAPI document. */
export function useImport(oas: FormObject, text: string | undefined) {
  const toasts = useToasts();
  const navigate = useNavigate();
  const preview = useMutation({
    mutationFn: (draft: ImportDraft) =>
      previewImport(oas, draft).catch(async (error: unknown) => {
        throw await placeRefusal(error, text, oas);
      }),
  });
  const create = useWrite('POST /api/apis/oas/import', refreshed);
  const update = useWrite('PATCH /api/apis/oas/{apiId}', refreshed);
  const store = (draft: ImportDraft) => {
    const options = { wait: 'applied' } as const;
    const name = readTitle(oas);
    const finish = (apiId: string, text: string, headers: Headers) => {
      toasts.showSuccess(`${text}. ${describeApplied(headers)}`);
      void navigate({ to: '/apis/$apiId/endpoints', params: { apiId } });
    };
    const query = toImportCallQuery(draft);
    const { apiId } = draft;
    if (apiId !== '')
      return update.mutate(
        { given: { params: { apiId }, query, body: toBodyOf<'PATCH /api/apis/oas/{apiId}'>(oas) }, options },
        { onSuccess: ({ headers }) => finish(apiId, importApiTexts.updated(name), headers) },
      );
    create.mutate(
      { given: { query, body: toBodyOf<'POST /api/apis/oas/import'>(oas) }, options },
      { onSuccess: ({ value, headers }) => finish(value.ID, texts.apis.created(name), headers) },
    );
  };
  const reset = () => {
    preview.reset();
    create.reset();
    update.reset();
  };
  return {
    preview: preview.data,
    show: (draft: ImportDraft) => {
      reset();
      preview.mutate(draft);
    },
    isPreviewing: preview.isPending,
    store,
    isStoring: create.isPending || update.isPending,
    error: preview.error ?? create.error ?? update.error,
    reset,
  };
}
