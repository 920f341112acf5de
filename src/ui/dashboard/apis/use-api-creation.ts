import type { CallResponse } from '../../kit/calls.ts';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { describeApplied } from './applied.ts';
import { type ApiDraft, buildDocument, buildGraphDefinition, type GraphDraft } from './new-api.ts';

const refreshed = ['GET /api/apis'] as const;
const options = { wait: 'applied' } as const;

/** Creates an API in the OpenAPI format, or in the classic one where it is a GraphQL API. */
export function useApiCreation(onCreated: (apiId: string) => void) {
  const toasts = useToasts();
  const document = useWrite('POST /api/apis/oas', refreshed);
  const classic = useWrite('POST /api/apis', refreshed);
  /** A template applies to documents only. */
  const run = (api: ApiDraft, graph: GraphDraft | undefined, templateID = '') => {
    const onSuccess = ({ value, headers }: CallResponse<{ readonly ID: string }>) => {
      toasts.showSuccess(`${texts.apis.created(api.name)}. ${describeApplied(headers)}`);
      onCreated(value.ID);
    };
    const query = templateID === '' ? {} : { templateID };
    if (graph === undefined)
      return document.mutate({ given: { query, body: buildDocument(api) }, options }, { onSuccess });
    const body = { api_definition: buildGraphDefinition(api, graph) };
    classic.mutate({ given: { body }, options }, { onSuccess });
  };
  return { run, error: document.error ?? classic.error, isPending: document.isPending || classic.isPending };
}
