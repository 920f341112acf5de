import { Send } from 'lucide-react';
import { type KeyboardEvent, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { CodeEditor } from '../../kit/code-editor.tsx';
import { TextField } from '../../kit/field.tsx';
import { useOperation } from '../../kit/queries.ts';
import { ErrorText, QueryState } from '../../kit/states.tsx';
import { graphqlTexts } from '../../texts/en/graphql.ts';
import { texts } from '../../texts/texts.ts';
import { ApiFrame, type LoadedApi } from '../apis/api-frame.tsx';
import { readHeaderName } from '../apis/sample-call.ts';
import type { TriedRequest } from '../apis/try/curl.ts';
import { StoredKeySelect } from '../apis/try/stored-key-select.tsx';
import { TriedResult } from '../apis/try/tried-result.tsx';
import { useExplainedCall } from '../apis/try/use-explained-call.ts';
import { NoGraphNotice } from './no-graph-notice.tsx';

const own = graphqlTexts.playground;
const firstOperation = '{\n  __typename\n}\n';

/** Operations of a GraphQL API, sent through the gateway. */
export const PlaygroundPage = () => <ApiFrame>{loaded => <Playground key={loaded.api.id} {...loaded} />}</ApiFrame>;

function Playground(loaded: LoadedApi) {
  const { api } = loaded;
  const query = useOperation('GET /api/apis/{apiId}/url', { params: { apiId: api.id } }, { enabled: api.isGraphql });
  if (!api.isGraphql) return <NoGraphNotice apiId={api.id} />;
  if (!query.data) return <QueryState query={query} />;
  return <PlaygroundForm loaded={loaded} address={query.data.value.ApiURL} />;
}

interface Variables {
  readonly text: string;
  readonly value?: unknown;
  readonly fault?: string;
}

function parseVariables(text: string): Variables {
  if (text.trim() === '') return { text };
  try {
    return { text, value: JSON.parse(text) };
  } catch (error) {
    return { text, fault: texts.apis.notJson((error as Error).message) };
  }
}

function usePlaygroundRequest(address: string, keyHeader: string) {
  const [operation, setOperation] = useState(firstOperation);
  const [variables, setVariables] = useState<Variables>({ text: '' });
  const [credential, setCredential] = useState('');
  const [stored, setStored] = useState({ hash: '', keyId: '' });
  const toRequest = (secret: string, key: string): TriedRequest => ({
    method: 'POST',
    url: address,
    headers: {
      'Content-Type': 'application/json',
      ...(credential === '' ? {} : { Authorization: secret }),
      ...(stored.keyId === '' ? {} : { [keyHeader]: key }),
    },
    body: JSON.stringify({
      query: operation,
      ...(variables.value === undefined ? {} : { variables: variables.value }),
    }),
  });
  return {
    ...{ operation, setOperation, variables, credential, setCredential, stored, setStored },
    setVariables: (text: string) => setVariables(parseVariables(text)),
    request: toRequest(credential, stored.keyId),
    /** For snippets: they may be shared, the credential not. */
    shown: toRequest(texts.tryApi.yourKey, texts.tryApi.yourKey),
  };
}

function PlaygroundForm({ loaded: { api, classic }, address }: { loaded: LoadedApi; address: string }) {
  const form = usePlaygroundRequest(address, readHeaderName(classic));
  const [sent, setSent] = useState<TriedRequest>();
  const call = useExplainedCall(form.stored.keyId);
  const send = () => {
    if (form.variables.fault !== undefined || form.operation.trim() === '' || call.isPending) return;
    setSent(form.shown);
    call.mutate(form.request);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    send();
  };
  return (
    <div className="grid items-start gap-4 min-[1100px]:grid-cols-2 *:min-w-0">
      <Card title={own.operation}>
        <form
          onSubmit={event => {
            event.preventDefault();
            send();
          }}
          onKeyDownCapture={onKey}
          className="flex flex-col gap-4"
        >
          <OperationFields api={api} form={form} />
          <div className="flex flex-wrap items-center gap-3">
            <Button kind="primary" type="submit" icon={Send} isBusy={call.isPending}>
              {own.run}
            </Button>
            <span className="text-small text-dim">{texts.tryApi.sendHelp}</span>
          </div>
        </form>
      </Card>
      <Card title={texts.tryApi.result}>
        <ErrorText error={call.error} />
        {call.data && sent ? (
          <TriedResult key={call.submittedAt} result={call.data} request={sent} apiId={api.id} />
        ) : (
          !call.error && <p className="text-dim">{call.isPending ? texts.kit.loading : own.nothingSent}</p>
        )}
      </Card>
    </div>
  );
}

interface OperationFieldsProps {
  readonly api: LoadedApi['api'];
  readonly form: ReturnType<typeof usePlaygroundRequest>;
}

/** Operation, variables and credential. */
const OperationFields = ({ api, form }: OperationFieldsProps) => (
  <>
    <CodeEditor
      label={own.operationLabel(api.name)}
      language="text"
      value={form.operation}
      onChange={form.setOperation}
    />
    <VariablesField form={form} />
    <StoredKeySelect
      apiId={api.id}
      value={form.stored.hash}
      onChange={(hash, keyId) => form.setStored({ hash, keyId })}
    />
    <TextField
      label={texts.tryApi.credential}
      type="password"
      autoComplete="off"
      isMono
      help={texts.tryApi.credentialHelp}
      value={form.credential}
      onChange={event => form.setCredential(event.target.value)}
    />
  </>
);

function VariablesField({ form }: Pick<OperationFieldsProps, 'form'>) {
  const { text, fault } = form.variables;
  return (
    <details open={fault !== undefined ? true : undefined} className="rounded-control border border-line">
      <summary className="px-3 py-2">{own.variables}</summary>
      <div className="flex flex-col gap-2 p-3 pt-0">
        <CodeEditor label={own.variables} value={text} onChange={form.setVariables} />
        {fault && (
          <p role="alert" className="text-small text-danger">
            {fault}
          </p>
        )}
      </div>
    </details>
  );
}
