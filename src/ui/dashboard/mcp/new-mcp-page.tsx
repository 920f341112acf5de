import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button, buttonClass } from '../../kit/button.tsx';
import { toBodyOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { ChoiceCards } from '../../kit/choice-cards.tsx';
import { TextField } from '../../kit/field.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import type { PickItem } from '../../kit/pick-list.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { mcpTexts } from '../../texts/en/mcp.ts';
import { texts } from '../../texts/texts.ts';
import { buildDocument, isUpstreamUrl, toListenPath } from '../apis/new-api.ts';
import { ApiPicker } from '../pickers/api-picker.tsx';

const own = mcpTexts;
type Source = 'server' | 'api';
type Faults = Partial<Record<'name' | 'upstream' | 'listenPath' | 'restApi', string>>;
const refreshed = ['GET /api/mcps'] as const;

interface Fields {
  readonly source: Source;
  readonly name: string;
  readonly upstream: string;
  /** Empty: derived from the name. */
  readonly listenPath: string;
  readonly restApi: PickItem | undefined;
}

function findFaults({ source, name, upstream, listenPath, restApi }: Fields): Faults {
  if (source === 'api') return restApi === undefined ? { restApi: own.restApiNone } : {};
  return {
    ...(name.trim() === '' ? { name: own.fieldMissing } : {}),
    ...(isUpstreamUrl(upstream) ? {} : { upstream: own.urlInvalid }),
    ...(listenPath === '' || listenPath.startsWith('/') ? {} : { listenPath: own.pathInvalid }),
  };
}

export function NewMcpPage() {
  const [fields, setFields] = useState<Fields>({
    source: 'server',
    name: '',
    upstream: '',
    listenPath: '',
    restApi: undefined,
  });
  const [faults, setFaults] = useState<Faults>({});
  const creation = useMcpCreation();
  const set = (some: Partial<Fields>) => setFields(before => ({ ...before, ...some }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = findFaults(fields);
    setFaults(found);
    if (Object.keys(found).length === 0) creation.run(fields);
  };
  return (
    <PageFrame title={own.newAction} width="form">
      <form onSubmit={submit} noValidate className="max-w-[640px]">
        <Card>
          <div className="flex flex-col gap-4">
            <ErrorText error={creation.error} />
            <ChoiceCards
              label={own.source}
              value={fields.source}
              onChange={source => set({ source })}
              choices={[
                { value: 'server', title: own.server, about: own.serverAbout },
                { value: 'api', title: own.api, about: own.apiAbout },
              ]}
            />
            {fields.source === 'server' ? (
              <ServerFields fields={fields} faults={faults} onChange={set} />
            ) : (
              <RestApiField value={fields.restApi} error={faults.restApi} onChange={restApi => set({ restApi })} />
            )}
            <div className="flex justify-end gap-2">
              <Link to="/mcp-proxies" className={buttonClass()}>
                {texts.kit.cancel}
              </Link>
              <Button kind="primary" type="submit" isBusy={creation.isBusy}>
                {own.create}
              </Button>
            </div>
          </div>
        </Card>
      </form>
    </PageFrame>
  );
}

/** Creates the proxy of a server, or that of the operations of an API. */
function useMcpCreation() {
  const navigate = useNavigate();
  const toasts = useToasts();
  const proxy = useWrite('POST /api/mcps', refreshed);
  const tools = useWrite('POST /api/apis/{apiId}/mcp', refreshed);
  const options = { wait: 'applied' } as const;
  const open = (name: string) => (response: { readonly value: { readonly ID: string } }) => {
    toasts.showSuccess(own.created(name));
    void navigate({ to: '/mcp-proxies/$apiId', params: { apiId: response.value.ID } });
  };
  const run = ({ source, name, upstream, listenPath, restApi }: Fields) => {
    if (source === 'api' && restApi) {
      const given = { params: { apiId: restApi.id }, body: {} };
      return tools.mutate({ given, options }, { onSuccess: open(restApi.name || restApi.id) });
    }
    const path = listenPath || toListenPath(name);
    const body = buildDocument({ name, upstream, listenPath: path, isProtected: true });
    proxy.mutate({ given: { body: toBodyOf<'POST /api/mcps'>(body) }, options }, { onSuccess: open(name) });
  };
  return { run, error: proxy.error ?? tools.error, isBusy: proxy.isPending || tools.isPending };
}

interface ServerFieldsProps {
  readonly fields: Fields;
  readonly faults: Faults;
  onChange(some: Partial<Fields>): void;
}

const ServerFields = ({ fields, faults, onChange }: ServerFieldsProps) => (
  <>
    <TextField
      label={own.name}
      required
      maxLength={200}
      error={faults.name}
      value={fields.name}
      onChange={event => onChange({ name: event.target.value })}
    />
    <TextField
      label={own.upstream}
      required
      type="url"
      isMono
      placeholder="https://"
      error={faults.upstream}
      value={fields.upstream}
      onChange={event => onChange({ upstream: event.target.value })}
    />
    <TextField
      label={own.listenPath}
      isMono
      placeholder={toListenPath(fields.name)}
      error={faults.listenPath}
      value={fields.listenPath}
      onChange={event => onChange({ listenPath: event.target.value })}
    />
  </>
);

interface RestApiFieldProps {
  readonly value: PickItem | undefined;
  readonly error: string | undefined;
  onChange(api: PickItem | undefined): void;
}

const RestApiField = ({ value, error, onChange }: RestApiFieldProps) => (
  <div className="flex flex-col gap-1">
    <ApiPicker
      title={own.restApiField}
      format="oas"
      chosen={value ? [value] : []}
      onChange={chosen => onChange(chosen.at(-1))}
    />
    <ErrorText error={error === undefined ? null : new Error(error)} />
  </div>
);
