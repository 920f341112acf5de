import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button, buttonClass } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { ChoiceCards } from '../../kit/choice-cards.tsx';
import { TextAreaField } from '../../kit/field.tsx';
import { focusFirstFault } from '../../kit/focus-fault.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { ErrorText } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { usePermission } from '../session/session.ts';
import { ApiFields, useApiForm } from './api-form.tsx';
import type { GraphDraft } from './new-api.ts';
import { PlacementFields } from './placement-fields.tsx';
import { useApiCreation } from './use-api-creation.ts';

const own = texts.apis;
type Kind = keyof typeof own.kinds;

/** Kinds with a form of their own page. */
const otherPages = { mcp: '/mcp-proxies/new', streams: '/apis/import', import: '/apis/import' } as const;
const isOtherPage = (kind: Kind): kind is keyof typeof otherPages => kind in otherPages;
const graphModes = { graphql: 'proxyOnly', dataGraph: 'executionEngine', supergraph: 'supergraph' } as const;
const kinds = Object.keys(own.kinds) as readonly Kind[];

/** A new API: the kind first, then its fields, or the page that creates that kind. */
export function NewApiPage() {
  const [kind, setKind] = useState<Kind>('http');
  const canWriteMcp = usePermission('mcp:write');
  const shown = kinds.filter(it => it !== 'mcp' || canWriteMcp);
  return (
    <PageFrame title={own.newTitle} width="form">
      <div className="flex max-w-[640px] flex-col gap-4">
        <ChoiceCards<Kind>
          label={own.kind}
          value={kind}
          onChange={setKind}
          choices={shown.map(value => ({ value, ...own.kinds[value] }))}
        />
        {isOtherPage(kind) ? (
          <Link to={otherPages[kind]} className={buttonClass('primary', 'self-end')}>
            {own.continueTo}
          </Link>
        ) : (
          <NewApiForm key={kind} mode={kind === 'http' ? undefined : graphModes[kind]} />
        )}
      </div>
    </PageFrame>
  );
}

function NewApiForm({ mode }: { mode: GraphDraft['mode'] | undefined }) {
  const hasSources = mode === 'executionEngine' || mode === 'supergraph';
  const hasSchema = mode === 'proxyOnly' || mode === 'executionEngine';
  const form = useApiForm('', !hasSources);
  const [schema, setSchema] = useState('');
  const [templateId, setTemplateId] = useState('');
  const navigate = useNavigate();
  const to = hasSources ? '/apis/$apiId/graph' : '/apis/$apiId';
  const creation = useApiCreation(apiId => void navigate({ to, params: { apiId } }));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const isMissing = hasSchema && schema.trim() === '';
    if (!form.check(isMissing ? { schema: own.schemaMissing } : {})) return focusFirstFault(event.currentTarget);
    creation.run(form.api, mode && { mode, schema }, templateId);
  };
  return (
    <form onSubmit={submit} noValidate>
      <Card>
        <div className="flex flex-col gap-4">
          <ErrorText error={creation.error} />
          <ApiFields form={form} />
          {hasSchema && (
            <TextAreaField
              label={own.schema}
              required
              rows={8}
              spellCheck={false}
              className="font-mono"
              help={hasSources ? own.graphSchemaHelp : own.schemaHelp}
              error={form.faults.schema}
              value={schema}
              onChange={event => setSchema(event.target.value)}
            />
          )}
          <PlacementFields
            tags={form.api.tags ?? []}
            onTags={tags => form.set({ tags })}
            {...(mode === undefined ? { template: { id: templateId, onChange: setTemplateId } } : {})}
          />
          <div className="flex justify-end gap-2">
            <Link to="/apis" className={buttonClass()}>
              {texts.kit.cancel}
            </Link>
            <Button kind="primary" type="submit" isBusy={creation.isPending}>
              {own.createAction}
            </Button>
          </div>
        </div>
      </Card>
    </form>
  );
}
