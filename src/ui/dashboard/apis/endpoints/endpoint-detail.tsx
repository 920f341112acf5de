import { Link } from '@tanstack/react-router';
import { Plus, Send, Trash2 } from 'lucide-react';
import { MethodBadge } from '../../../kit/badge.tsx';
import { Button, buttonClass, IconButton } from '../../../kit/button.tsx';
import { Menu } from '../../../kit/menu.tsx';
import { endpointTexts } from '../../../texts/en/endpoints.ts';
import type { ApiOutline } from '../api-outline.ts';
import { useDefinitionForm } from '../form/form-context.ts';
import { type FormSchema, findSchema } from '../form/form-schema.ts';
import { toJsonObject } from '../form/json-members.ts';
import { DefinitionField } from '../form/schema-field.tsx';
import { type MiddlewareKind, middlewareKinds, middlewarePhases } from './endpoint-middleware.ts';
import { EndpointTest } from './endpoint-test.tsx';
import { type ApiEndpoint, listEndpoints, removeEndpoint, settingsPath } from './endpoints.ts';

const own = endpointTexts;

interface EndpointDetailProps {
  readonly api: ApiOutline;
  readonly endpoint: ApiEndpoint;
  /** Schema of the settings of one operation. */
  readonly schema: FormSchema;
}

/** One endpoint as a lane: what happens to its request, at the upstream, and to the response. */
export function EndpointDetail({ api, endpoint, schema }: EndpointDetailProps) {
  const form = useDefinitionForm();
  const { method, path, summary, id, middleware } = endpoint;
  const free = middlewareKinds.filter(({ name }) => !middleware.includes(name) && findSchema(schema, [name]));
  const add = ({ name, initial }: MiddlewareKind) =>
    form.set([...settingsPath, id, name], name === 'postPlugins' ? [initial] : initial);
  return (
    <section
      aria-label={`${method} ${path}`}
      className="flex min-w-0 flex-col gap-4 rounded-card border border-line bg-surface p-4"
    >
      <header className="flex flex-wrap items-center gap-2">
        <MethodBadge method={method} />
        <h2 className="mr-auto font-mono break-all">{path}</h2>
        <Link to="/apis/$apiId/try" params={{ apiId: api.id }} search={{ method, path }} className={buttonClass()}>
          <Send size={16} strokeWidth={1.5} aria-hidden />
          {own.try}
        </Link>
        {!form.isReadOnly && (
          <>
            <Menu
              trigger={<Button icon={Plus}>{own.addMiddleware}</Button>}
              items={free.map(kind => ({ label: own.names[kind.name] ?? kind.name, onSelect: () => add(kind) }))}
            />
            <IconButton
              icon={Trash2}
              kind="secondary"
              label={own.remove(method, path)}
              onClick={() => form.set([], removeEndpoint(toJsonObject(form.read([])), endpoint))}
            />
          </>
        )}
      </header>
      {summary && <p className="text-dim">{summary}</p>}
      {middlewarePhases.map(phase => (
        <Phase
          key={phase}
          phase={phase}
          id={id}
          schema={schema}
          names={middlewareKinds.filter(it => it.phase === phase && middleware.includes(it.name)).map(it => it.name)}
        />
      ))}
      {!form.isReadOnly && <EndpointTest endpoint={endpoint} />}
    </section>
  );
}

interface PhaseProps {
  readonly phase: MiddlewareKind['phase'];
  readonly id: string;
  readonly schema: FormSchema;
  readonly names: readonly string[];
}

const Phase = ({ phase, id, schema, names }: PhaseProps) => (
  <section aria-label={own.phases[phase]} className="flex flex-col gap-2 border-l-2 border-line pl-4">
    <h3 className="text-small text-dim">{own.phases[phase]}</h3>
    {names.length === 0 && <p className="text-dim">{own.passes[phase]}</p>}
    {names.map(name => (
      <MiddlewareCard key={name} id={id} name={name} schema={findSchema(schema, [name])} />
    ))}
  </section>
);

function MiddlewareCard({ id, name, schema }: { id: string; name: string; schema: FormSchema | undefined }) {
  const form = useDefinitionForm();
  const path = [...settingsPath, id, name];
  const label = own.names[name] ?? name;
  const consequence = own.consequences[name];
  const countOthers = () =>
    listEndpoints(toJsonObject(form.read([]))).filter(it => !it.middleware.includes('allow')).length;
  return (
    <section aria-label={label} className="flex items-start gap-2 rounded-card border border-line p-3">
      <div className="flex min-w-0 grow flex-col gap-2">
        {schema && <DefinitionField path={path} schema={schema} label={label} />}
        {consequence && <p className="text-small text-dim">{consequence}</p>}
        {name === 'allow' && <p className="text-small text-dim">{own.allowCloses(countOthers())}</p>}
      </div>
      {!form.isReadOnly && (
        <IconButton icon={Trash2} label={own.removeMiddleware(label)} onClick={() => form.set(path, undefined)} />
      )}
    </section>
  );
}
