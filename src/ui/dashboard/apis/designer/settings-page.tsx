import { useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Badge } from '../../../kit/badge.tsx';
import { Card } from '../../../kit/card.tsx';
import { focusFirstFault } from '../../../kit/focus-fault.ts';
import { toPointer } from '../../../kit/json-pointer.ts';
import { useListChange } from '../../../kit/list-search.ts';
import { ListToolbar } from '../../../kit/list-toolbar.tsx';
import { QueryState } from '../../../kit/states.tsx';
import { texts } from '../../../texts/texts.ts';
import { ApiFrame, type LoadedApi } from '../api-frame.tsx';
import { DefinitionFormContext, useDefinitionForm } from '../form/form-context.ts';
import { countValues, type FormSchema, findSchema } from '../form/form-schema.ts';
import { DefinitionField, matchesFilter } from '../form/schema-field.tsx';
import { gatewayMember, useDefinitionSchema } from '../form/use-definition-schema.ts';
import { AuthenticationMethods } from './authentication-methods.tsx';
import { ClassicNotice } from './classic-notice.tsx';
import { DefinitionSaveBar } from './save-bar.tsx';
import { listSections, type SettingsSection, toPath } from './settings-layout.ts';
import { useDraftForm } from './use-definition-form.ts';
import { type DefinitionDraft, useDefinitionDraft } from './use-draft.ts';

const own = texts.designer;
const sectionClass =
  'control flex shrink-0 items-center justify-between gap-2 px-2.5 text-left hover:bg-hover ' +
  'aria-[current]:bg-accent-soft aria-[current]:text-accent-ink';

/** Settings of an API: forms by the schema of the server. Members without a field stay as they are. */
export const ApiSettingsPage = () => (
  <ApiFrame>
    {loaded =>
      loaded.api.format === 'classic' ? (
        <ClassicNotice {...loaded} />
      ) : (
        <DocumentSettings key={loaded.api.id} {...loaded} />
      )
    }
  </ApiFrame>
);

function DocumentSettings(loaded: LoadedApi) {
  const draft = useDefinitionDraft(loaded);
  const schema = useDefinitionSchema(loaded.api.format === 'streams' ? 'streams' : 'oas');
  if (!schema.data) return <QueryState query={schema} />;
  const gateway = findSchema(schema.data, [gatewayMember]);
  return gateway ? <SettingsForm draft={draft} gateway={gateway} /> : null;
}

function SettingsForm({ draft, gateway }: { draft: DefinitionDraft; gateway: FormSchema }) {
  const { section: chosen = 'info', q = '' } = useSearch({ strict: false });
  const { change } = useListChange();
  const { form, faults, isIncomplete } = useDraftForm(draft, q);
  const sections = listSections(gateway);
  const shown = q === '' ? sections.filter(({ id }) => id === chosen) : sections.filter(it => hasMatch(it, gateway, q));
  const fields = useRef<HTMLDivElement>(null);
  const [wantedSection, setWantedSection] = useState('');
  // The address changes later: the fault is focused once its section is the one that is shown.
  useEffect(() => {
    if (wantedSection === '' || wantedSection !== chosen || q !== '' || !fields.current) return;
    setWantedSection('');
    focusFirstFault(fields.current);
  }, [wantedSection, chosen, q]);
  const showFault = () => {
    const faulty = sections.find(section => faults.some(({ pointer }) => isInSection(section, pointer)));
    if (!faulty) return;
    change({ section: faulty.id, q: undefined });
    setWantedSection(faulty.id);
  };
  const countFaults = (section: SettingsSection) =>
    faults.filter(({ pointer }) => isInSection(section, pointer)).length;
  return (
    <DefinitionFormContext value={form}>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-x-6 gap-y-4 min-[900px]:grid-cols-[200px_minmax(0,760px)]">
        <div className="flex flex-col gap-3">
          <ListToolbar
            label={own.searchLabel}
            placeholder={own.search}
            value={q}
            onSearch={text => change({ q: text })}
          />
          <SectionList
            sections={sections}
            chosen={q === '' ? chosen : ''}
            countFaults={countFaults}
            onChoose={id => change({ section: id, q: undefined })}
          />
        </div>
        <div ref={fields} className="flex min-w-0 flex-col gap-4">
          {shown.map(section => (
            <Card key={section.id} title={own.sections[section.id] ?? section.id}>
              <SectionFields section={section} gateway={gateway} />
            </Card>
          ))}
          {shown.length === 0 && <p className="text-dim">{own.noField(q)}</p>}
          <DefinitionSaveBar draft={draft} isIncomplete={isIncomplete} onShowFault={showFault} />
        </div>
      </div>
    </DefinitionFormContext>
  );
}

const isInSection = ({ fields, advanced = [] }: SettingsSection, pointer: string) =>
  [...fields, ...advanced].some(name => pointer.startsWith(toPointer([gatewayMember, ...toPath(name)])));

const hasMatch = ({ fields, advanced = [] }: SettingsSection, gateway: FormSchema, filter: string) =>
  [...fields, ...advanced].some(name => {
    const schema = findSchema(gateway, toPath(name));
    return schema && matchesFilter([gatewayMember, ...toPath(name)], schema, filter);
  });

interface SectionListProps {
  readonly sections: readonly SettingsSection[];
  readonly chosen: string;
  countFaults(section: SettingsSection): number;
  onChoose(id: string): void;
}

const SectionList = ({ sections, chosen, countFaults, onChoose }: SectionListProps) => (
  <nav aria-label={own.sectionList} className="flex gap-1 overflow-x-auto p-1 min-[900px]:flex-col">
    {sections.map(section => (
      <button
        key={section.id}
        type="button"
        aria-current={section.id === chosen ? 'true' : undefined}
        className={sectionClass}
        onClick={() => onChoose(section.id)}
      >
        {own.sections[section.id] ?? section.id}
        {countFaults(section) > 0 && <Badge tone="danger">{texts.apis.faults(countFaults(section))}</Badge>}
      </button>
    ))}
  </nav>
);

function SectionFields({ section, gateway }: { section: SettingsSection; gateway: FormSchema }) {
  const form = useDefinitionForm();
  const { fields, advanced = [] } = section;
  const render = (name: string) => {
    const path = toPath(name);
    const schema = findSchema(gateway, path);
    return schema && <DefinitionField key={name} path={[gatewayMember, ...path]} schema={schema} />;
  };
  const countSet = advanced.filter(name => countValues(form.read([gatewayMember, ...toPath(name)])) > 0).length;
  return (
    <div className="flex flex-col gap-5">
      {fields.map(render)}
      {section.id === 'authentication' && <AuthenticationMethods gateway={gateway} />}
      {advanced.length > 0 && (
        <details open={form.filter !== ''} className="rounded-control border border-line">
          <summary className="px-3 py-2">
            {own.advanced} {countSet > 0 && <span className="text-small text-dim">{own.countSet(countSet)}</span>}
          </summary>
          <div className="flex flex-col gap-5 p-3">{advanced.map(render)}</div>
        </details>
      )}
    </div>
  );
}
