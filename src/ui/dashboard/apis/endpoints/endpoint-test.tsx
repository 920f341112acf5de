import { useState } from 'react';
import { StatusPill } from '../../../kit/badge.tsx';
import { Button } from '../../../kit/button.tsx';
import { toBodyOf } from '../../../kit/calls.ts';
import { Disclosure } from '../../../kit/disclosure.tsx';
import { Switch, TextAreaField, TextField } from '../../../kit/field.tsx';
import { useWrite } from '../../../kit/queries.ts';
import { ErrorText } from '../../../kit/states.tsx';
import { endpointTexts } from '../../../texts/en/endpoints.ts';
import { texts } from '../../../texts/texts.ts';
import { useDefinitionForm } from '../form/form-context.ts';
import { withMember } from '../form/json-members.ts';
import { gatewayMember } from '../form/use-definition-schema.ts';
import type { ApiEndpoint } from './endpoints.ts';
import { type RunTrace, readRunTrace } from './run-trace.ts';

const own = endpointTexts;
const authenticationPath = [gatewayMember, 'server', 'authentication', 'enabled'];
const methodsWithBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** One request of the endpoint through the edited definition, before it is saved: where it goes, and what each step did. */
export function EndpointTest({ endpoint: { method, path } }: { endpoint: ApiEndpoint }) {
  const form = useDefinitionForm();
  const [sample, setSample] = useState(path);
  const [content, setContent] = useState('');
  const [skipsAuthentication, setSkipping] = useState(true);
  const { mutate, data, error, isPending } = useWrite('POST /api/debug');
  const hasAuthentication = form.read(authenticationPath) === true;
  const run = () => {
    const definition = form.read([]);
    const isSkipped = hasAuthentication && skipsAuthentication;
    const oas = isSkipped ? withMember(definition, authenticationPath, false) : definition;
    const request = { method, path: sample, ...(content === '' ? {} : { body: content }) };
    mutate({ given: { body: toBodyOf<'POST /api/debug'>({ oas, request }) } });
  };
  return (
    <Disclosure className="border-t border-line pt-3" summary={<span className="font-medium">{own.test}</span>}>
      <div className="flex flex-col gap-3 pt-3">
        <p className="text-small text-dim">{own.testAbout}</p>
        <TextField
          label={own.samplePath}
          help={own.samplePathHelp}
          isMono
          value={sample}
          onChange={event => setSample(event.target.value)}
        />
        {methodsWithBody.has(method) && (
          <TextAreaField
            label={own.sampleBody}
            rows={4}
            spellCheck={false}
            className="font-mono"
            value={content}
            onChange={event => setContent(event.target.value)}
          />
        )}
        {hasAuthentication && (
          <Switch
            label={own.skipAuthentication}
            checked={skipsAuthentication}
            onChange={event => setSkipping(event.target.checked)}
          />
        )}
        <div>
          <Button isBusy={isPending} onClick={run}>
            {own.runTest}
          </Button>
        </div>
        <ErrorText error={error} />
        {data && <RunResult trace={readRunTrace(data.value)} />}
      </div>
    </Disclosure>
  );
}

const RunResult = ({ trace: { sent, status, fault, steps } }: { trace: RunTrace }) => (
  <section aria-label={own.testResult} className="flex flex-col gap-2">
    {status !== undefined && (
      <div>
        <StatusPill tone={status < 400 ? 'success' : 'warning'}>{texts.tryApi.status(status)}</StatusPill>
      </div>
    )}
    {fault && <p role="alert">{fault}</p>}
    <p>
      {sent === undefined ? own.notSent : own.sentAs}{' '}
      {sent !== undefined && <code className="font-mono break-all">{sent}</code>}
    </p>
    <ol aria-label={own.testSteps} className="flex flex-col gap-1 text-small">
      {steps.map(({ place, name, outcome }) => (
        <li key={place} className="flex flex-wrap gap-x-2">
          <code className="font-mono">{name}</code>
          <span className="min-w-0 break-words text-dim">{outcome}</span>
        </li>
      ))}
    </ol>
  </section>
);
