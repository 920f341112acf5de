import { useSearch } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useState } from 'react';
import { nowMs } from '../../../kit/browser-clock.ts';
import { Button } from '../../../kit/button.tsx';
import { Card } from '../../../kit/card.tsx';
import { FilterSelect, SelectField, TextAreaField, TextField } from '../../../kit/field.tsx';
import { useOperation } from '../../../kit/queries.ts';
import { ErrorText, ForbiddenState, QueryState } from '../../../kit/states.tsx';
import { texts } from '../../../texts/texts.ts';
import { usePermission, useSession } from '../../session/session.ts';
import { ApiFrame, type LoadedApi } from '../api-frame.tsx';
import type { FormObject } from '../form/json-members.ts';
import { type DocumentOperation, listDocumentOperations } from '../operations-of-document.ts';
import { readHeaderName } from '../sample-call.ts';
import { parseHeaderLines, type TriedRequest } from './curl.ts';
import { ExampleCard } from './example-card.tsx';
import { LastRequests } from './last-requests.tsx';
import { type KeptRequest, keepRequest, listKeptRequests } from './request-history.ts';
import { buildOperationSample, findOperation } from './sample-request.ts';
import { StoredKeySelect } from './stored-key-select.tsx';
import { TriedResult } from './tried-result.tsx';
import { type ExampleRequest, useExampleRun, useExamples } from './use-examples.ts';
import { joinUrl, toExplained, useExplainedCall } from './use-explained-call.ts';

const own = texts.tryApi;
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const withoutBody = new Set(['GET', 'HEAD']);

/** One request through the gateway, with the decision of every step. */
export const TryApiPage = () => <ApiFrame>{loaded => <TryApi key={loaded.api.id} {...loaded} />}</ApiFrame>;

function TryApi(loaded: LoadedApi) {
  const canSend = usePermission('apis:write');
  const query = useOperation('GET /api/apis/{apiId}/url', { params: { apiId: loaded.api.id } }, { enabled: canSend });
  if (!canSend) return <ForbiddenState permission="apis:write" />;
  if (!query.data) return <QueryState query={query} />;
  return <TryForm loaded={loaded} address={query.data.value.ApiURL} />;
}

/** Operation that the address names. */
function useAddressed(document: FormObject) {
  const { method: given = '', path = '/' } = useSearch({ strict: false });
  const method = methods.includes(given) ? given : 'GET';
  const operation = findOperation(document, method, path);
  return { method, path, operation, sample: operation && buildOperationSample(document, operation) };
}

function useTriedRequest(address: string, keyHeader: string, document: FormObject) {
  const first = useAddressed(document);
  const [method, setMethod] = useState(first.method);
  const [path, setPath] = useState(first.sample?.path ?? first.path);
  const [endpoint, setEndpoint] = useState(first.operation ? `${first.method} ${first.path}` : '');
  const [credential, setCredential] = useState('');
  const [stored, setStored] = useState({ hash: '', keyId: '' });
  const [headerText, setHeaderText] = useState(first.sample?.headerText ?? '');
  const [body, setBody] = useState(first.sample?.body ?? '');
  const { faults } = parseHeaderLines(headerText);
  /** The request with the credential of the form. */
  const build = (parts: ExampleRequest): TriedRequest => ({
    method: parts.method,
    url: joinUrl(address, parts.path),
    headers: {
      ...(credential === '' ? {} : { Authorization: credential }),
      ...(stored.keyId === '' ? {} : { [keyHeader]: stored.keyId }),
      ...parseHeaderLines(parts.headerText).headers,
    },
    body: withoutBody.has(parts.method) ? '' : parts.body,
  });
  const request = build({ method, path, headerText, body });
  /** Fills the fields with the examples of an operation. */
  const choose = (operation: DocumentOperation) => {
    const sample = buildOperationSample(document, operation);
    setEndpoint(`${operation.method} ${operation.path}`);
    setMethod(operation.method);
    setPath(sample.path);
    setHeaderText(sample.headerText);
    setBody(sample.body);
  };
  /** Fills the fields with an earlier request, whose credential is not kept. */
  const restore = (earlier: ExampleRequest) => {
    setEndpoint('');
    setMethod(earlier.method);
    setPath(earlier.path);
    setHeaderText(earlier.headerText);
    setBody(earlier.body);
  };
  return {
    ...{ endpoint, choose, restore, build },
    ...{ method, setMethod, path, setPath, credential, setCredential, headerText, setHeaderText, body, setBody },
    ...{ request, faults, stored, setStored },
    /** For snippets: they may be shared, the credential not. */
    shown: {
      ...request,
      headers: {
        ...request.headers,
        ...(credential === '' ? {} : { Authorization: own.yourKey }),
        ...(stored.keyId === '' ? {} : { [keyHeader]: own.yourKey }),
      },
    },
  };
}

/** Last requests to an API in this window. */
function useRequestHistory(apiId: string) {
  const { user } = useSession();
  const [requests, setRequests] = useState(() => listKeptRequests(user.id, apiId));
  const add = (request: Omit<KeptRequest, 'id'>) => {
    keepRequest(user.id, apiId, request);
    setRequests(listKeptRequests(user.id, apiId));
  };
  return { requests, add };
}

function TryForm({ loaded: { api, definition, classic }, address }: { loaded: LoadedApi; address: string }) {
  const form = useTriedRequest(address, readHeaderName(classic), definition);
  const [sent, setSent] = useState<TriedRequest>();
  const call = useExplainedCall(form.stored.keyId);
  const history = useRequestHistory(api.id);
  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (form.faults.length > 0 || call.isPending) return;
    setSent(form.shown);
    const { method, path, headerText } = form;
    call.mutate(form.request, {
      onSuccess: ({ status_code: status }) =>
        history.add({ atMs: nowMs(), method, path, headerText, body: form.request.body, status }),
    });
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send();
  };
  return (
    <div className="grid items-start gap-4 min-[1200px]:grid-cols-[minmax(320px,420px)_minmax(0,1fr)]">
      <div className="flex flex-col gap-4">
        <Card title={own.request}>
          <form onSubmit={send} onKeyDown={onKey} className="flex flex-col gap-4">
            <RequestFields
              apiId={api.id}
              form={form}
              operations={listDocumentOperations(definition)}
              address={address}
            />
            <div className="flex items-center gap-3">
              <Button kind="primary" type="submit" icon={Send} isBusy={call.isPending}>
                {own.send}
              </Button>
              <span className="text-small text-dim">{own.sendHelp}</span>
            </div>
          </form>
        </Card>
        <Examples apiId={api.id} form={form} />
        {history.requests.length > 0 && <LastRequests requests={history.requests} onChoose={form.restore} />}
      </div>
      <Card title={own.result}>
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

function Examples({ apiId, form }: Pick<RequestFieldsProps, 'apiId' | 'form'>) {
  const stored = useExamples(apiId);
  const runner = useExampleRun(example => toExplained(form.build(example)));
  // The body of a method without one is not shown, and not saved.
  const request = { ...form, body: form.request.body };
  return (
    <ExampleCard
      stored={stored}
      runner={runner}
      findFault={name => stored.findFault(name, request)}
      onSave={name => stored.save(name, request)}
      onChoose={form.restore}
    />
  );
}

interface RequestFieldsProps {
  readonly form: ReturnType<typeof useTriedRequest>;
  readonly operations: ReturnType<typeof listDocumentOperations>;
  readonly address: string;
  readonly apiId: string;
}

function RequestFields({ form, operations, address, apiId }: RequestFieldsProps) {
  const choose = (key: string) => {
    const found = operations.find(it => `${it.method} ${it.path}` === key);
    if (found) form.choose(found);
  };
  return (
    <>
      {operations.length > 0 && (
        <FilterSelect
          label={own.endpoint}
          value={form.endpoint}
          onChange={event => choose(event.target.value)}
          options={[
            { value: '', label: own.anyEndpoint },
            ...operations.map(({ method, path }) => ({ value: `${method} ${path}`, label: `${method} ${path}` })),
          ]}
        />
      )}
      <div className="grid grid-cols-[112px_1fr] gap-2">
        <SelectField
          label={own.method}
          value={form.method}
          onChange={event => form.setMethod(event.target.value)}
          options={methods.map(value => ({ value, label: value }))}
        />
        <TextField
          label={own.path}
          isMono
          help={own.pathHelp(address)}
          value={form.path}
          onChange={event => form.setPath(event.target.value)}
        />
      </div>
      <StoredKeySelect
        apiId={apiId}
        value={form.stored.hash}
        onChange={(hash, keyId) => form.setStored({ hash, keyId })}
      />
      <ContentFields form={form} />
    </>
  );
}

/** Credential, headers and body. */
function ContentFields({ form }: Pick<RequestFieldsProps, 'form'>) {
  const faulty = form.faults[0];
  return (
    <>
      <TextField
        label={own.credential}
        type="password"
        autoComplete="off"
        isMono
        help={own.credentialHelp}
        value={form.credential}
        onChange={event => form.setCredential(event.target.value)}
      />
      <TextAreaField
        label={own.headers}
        className="font-mono"
        rows={2}
        help={own.headersHelp}
        error={faulty === undefined ? undefined : own.headerInvalid(faulty)}
        value={form.headerText}
        onChange={event => form.setHeaderText(event.target.value)}
      />
      {!withoutBody.has(form.method) && (
        <TextAreaField
          label={own.body}
          className="font-mono"
          value={form.body}
          onChange={event => form.setBody(event.target.value)}
        />
      )}
    </>
  );
}
