import { Link, useSearch } from '@tanstack/react-router';
import { Plus, Route } from 'lucide-react';
import { useState } from 'react';
import { Badge, MethodBadge } from '../../../kit/badge.tsx';
import { Button, buttonClass } from '../../../kit/button.tsx';
import { FilterSelect } from '../../../kit/field.tsx';
import { useListChange } from '../../../kit/list-search.ts';
import { ListToolbar } from '../../../kit/list-toolbar.tsx';
import { Notice, QueryState } from '../../../kit/states.tsx';
import { endpointTexts } from '../../../texts/en/endpoints.ts';
import { proposedEndpointTexts } from '../../../texts/en/proposed-endpoints.ts';
import { texts } from '../../../texts/texts.ts';
import { useNarrowedAnalytics, usePermission } from '../../session/session.ts';
import { ApiFrame, type LoadedApi } from '../api-frame.tsx';
import { ClassicNotice } from '../designer/classic-notice.tsx';
import { DefinitionSaveBar } from '../designer/save-bar.tsx';
import { useDraftForm } from '../designer/use-definition-form.ts';
import { useDefinitionDraft } from '../designer/use-draft.ts';
import { DefinitionFormContext } from '../form/form-context.ts';
import { findSchema } from '../form/form-schema.ts';
import type { FormObject } from '../form/json-members.ts';
import { useDefinitionSchema } from '../form/use-definition-schema.ts';
import { AddEndpointDialog } from './add-endpoint-dialog.tsx';
import { EndpointDetail } from './endpoint-detail.tsx';
import { middlewareKinds } from './endpoint-middleware.ts';
import { type ApiEndpoint, addEndpoint, filterEndpoints, listEndpoints, settingsPath } from './endpoints.ts';
import { ProposeDialog } from './propose-dialog.tsx';
import type { ProposedEndpoint } from './propose-endpoints.ts';

const own = endpointTexts;
const columnsClass =
  'grid grid-cols-[minmax(0,1fr)] items-start gap-4 ' + 'min-[1000px]:grid-cols-[minmax(280px,360px)_minmax(0,1fr)]';
const endpointClass =
  'control flex shrink-0 items-center gap-2 px-2 py-1 text-left hover:bg-hover ' + 'aria-[current]:bg-accent-soft';

/** Endpoints of an API: its operations, and the middleware of each in order of execution. */
export const ApiEndpointsPage = () => (
  <ApiFrame>
    {loaded =>
      loaded.api.format === 'classic' ? <ClassicNotice {...loaded} /> : <Endpoints key={loaded.api.id} {...loaded} />
    }
  </ApiFrame>
);

function Endpoints(loaded: LoadedApi) {
  const draft = useDefinitionDraft(loaded);
  const { form, definition, isIncomplete } = useDraftForm(draft);
  const search = useSearch({ strict: false });
  const { change, clear } = useListChange();
  const [isAdding, setAdding] = useState(false);
  const schema = useDefinitionSchema(loaded.api.format === 'streams' ? 'streams' : 'oas');
  if (!schema.data) return <QueryState query={schema} />;
  const endpoints = listEndpoints(definition);
  const shown = filterEndpoints(endpoints, search);
  const chosen = endpoints.find(({ id }) => id === search.endpoint) ?? shown[0];
  const choose = (id: string) => change({ endpoint: id });
  const add = (method: string, path: string) => {
    const next = addEndpoint(definition, method, path);
    form.set([], next.definition);
    setAdding(false);
    choose(next.id);
  };
  const addAll = (proposed: readonly ProposedEndpoint[]) => {
    const add = (edited: FormObject, { method, path }: ProposedEndpoint) =>
      addEndpoint(edited, method, path).definition as FormObject;
    form.set([], proposed.reduce(add, definition));
  };
  const settings = findSchema(schema.data, [...settingsPath, 'any']);
  return (
    <DefinitionFormContext value={form}>
      <div className="flex flex-col gap-4">
        <EndpointToolbar search={search} canAdd={draft.canWrite} onChange={change} onAdd={() => setAdding(true)} />
        {endpoints.length === 0 ? (
          <EmptyEndpoints apiId={loaded.api.id} canAdd={draft.canWrite} onAdd={addAll} />
        ) : (
          <div className={columnsClass}>
            {shown.length === 0 ? (
              <Notice
                icon={Route}
                title={texts.kit.noMatch}
                action={<Button onClick={clear}>{texts.kit.clearFilters}</Button>}
              />
            ) : (
              <EndpointList endpoints={shown} chosen={chosen} onChoose={choose} />
            )}
            {chosen && settings && (
              <EndpointDetail key={chosen.id} api={loaded.api} endpoint={chosen} schema={settings} />
            )}
          </div>
        )}
        <DefinitionSaveBar draft={draft} isIncomplete={isIncomplete} />
      </div>
      <AddEndpointDialog isOpen={isAdding} endpoints={endpoints} onAdd={add} onClose={() => setAdding(false)} />
    </DefinitionFormContext>
  );
}

interface EmptyEndpointsProps {
  readonly apiId: string;
  readonly canAdd: boolean;
  onAdd(proposed: readonly ProposedEndpoint[]): void;
}

/** An API without endpoints passes every path; those that clients call can become endpoints. */
function EmptyEndpoints({ apiId, canAdd, onAdd }: EmptyEndpointsProps) {
  const [isProposing, setProposing] = useState(false);
  const canReadUsage = usePermission('analytics');
  const isNarrowed = useNarrowedAnalytics();
  const actions = (
    <div className="flex flex-wrap justify-center gap-2">
      {canReadUsage && !isNarrowed && <Button onClick={() => setProposing(true)}>{proposedEndpointTexts.open}</Button>}
      <Link to="/apis/import" className={buttonClass()}>
        {proposedEndpointTexts.importDocument}
      </Link>
    </div>
  );
  return (
    <Notice icon={Route} title={own.emptyTitle} action={canAdd && actions}>
      {own.emptyAbout}
      {isProposing && <ProposeDialog apiId={apiId} onAdd={onAdd} onClose={() => setProposing(false)} />}
    </Notice>
  );
}

interface EndpointToolbarProps {
  readonly search: { readonly q?: string; readonly method?: string; readonly with?: string };
  readonly canAdd: boolean;
  onChange(next: Readonly<Record<string, string>>): void;
  onAdd(): void;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

const EndpointToolbar = ({ search, canAdd, onChange, onAdd }: EndpointToolbarProps) => (
  <div className="flex flex-wrap items-start justify-between gap-2 [&>search]:grow">
    <ListToolbar
      label={own.searchLabel}
      placeholder={own.search}
      value={search.q ?? ''}
      onSearch={q => onChange({ q })}
    >
      <FilterSelect
        label={own.anyMethod}
        value={search.method ?? ''}
        onChange={event => onChange({ method: event.target.value })}
        options={[{ value: '', label: own.anyMethod }, ...methods.map(value => ({ value, label: value }))]}
      />
      <FilterSelect
        label={own.anyMiddleware}
        value={search.with ?? ''}
        onChange={event => onChange({ with: event.target.value })}
        options={[
          { value: '', label: own.anyMiddleware },
          ...middlewareKinds.map(({ name }) => ({ value: name, label: own.names[name] ?? name })),
        ]}
      />
    </ListToolbar>
    {canAdd && (
      <Button icon={Plus} onClick={onAdd}>
        {own.add}
      </Button>
    )}
  </div>
);

interface EndpointListProps {
  readonly endpoints: readonly ApiEndpoint[];
  readonly chosen: ApiEndpoint | undefined;
  onChoose(id: string): void;
}

const EndpointList = ({ endpoints, chosen, onChoose }: EndpointListProps) => (
  <nav
    aria-label={own.list}
    className="flex max-h-[70dvh] flex-col overflow-auto rounded-card border border-line bg-surface p-1"
  >
    {endpoints.map(({ id, method, path, middleware }) => (
      <button
        key={`${method} ${path}`}
        type="button"
        aria-current={id === chosen?.id ? 'true' : undefined}
        className={endpointClass}
        onClick={() => onChoose(id)}
      >
        <MethodBadge method={method} />
        <span className="min-w-0 grow font-mono text-small break-all">{path}</span>
        {middleware.length > 0 && <Badge>{own.countMiddleware(middleware.length)}</Badge>}
      </button>
    ))}
  </nav>
);
