import { RotateCcw } from 'lucide-react';
import { Badge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { MarkedText } from '../../kit/marked-text.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import type { FieldSpec } from '../forms/record-field.tsx';
import { RecordForm } from '../forms/record-form.tsx';

const own = adminTexts.general;
const readRoute = 'GET /portal-api/configs';
const writeRoute = 'PUT /portal-api/general-settings';
type GeneralItem = ResultOf<typeof readRoute>[number]['General'][number];
type GeneralChange = ArgumentsOf<typeof writeRoute>['body'];

const toWords = (value: unknown) => {
  if (typeof value === 'boolean') return value ? own.on : own.off;
  return String(value ?? '') || own.empty;
};

const findLabel = (name: string): string => own.labels[name] ?? name;

function toField({ Name: name, Value, Options, About, IsMultiline }: GeneralItem): FieldSpec {
  const nameOption = (value: string) => own.optionsOf[name]?.[value] ?? own.options[value] ?? value;
  // Values of the list by the names that it shows.
  const help = About.replace(/`([^`]*)`/g, (_, word: string) => (Options.includes(word) ? nameOption(word) : word));
  const shared = { name, label: findLabel(name), help };
  if (Options.length > 0)
    return { ...shared, kind: 'select', options: Options.map(value => ({ value, label: nameOption(value) })) };
  if (IsMultiline) return { ...shared, kind: 'area', rows: 6, isMono: true };
  if (typeof Value === 'boolean') return { ...shared, kind: 'switch' };
  return { ...shared, ...(typeof Value === 'number' && { kind: 'number' as const }) };
}

/** Settings of the portal: those that are set here, then those of the process with their source. */
export function GeneralPage() {
  const read = useOperation(readRoute, {});
  const settings = read.data?.value[0]?.General;
  return (
    <PageFrame title={own.title} about={own.about} width="form">
      {!settings && <QueryState query={read} />}
      {settings && (
        <div className="flex flex-col gap-4">
          <EditableSettings items={settings.filter(it => it.IsEditable)} />
          <StoredValues items={settings.filter(it => it.Source === 'stored')} />
          <ProcessSettings items={settings.filter(it => !it.IsEditable)} />
        </div>
      )}
    </PageFrame>
  );
}

function EditableSettings({ items }: { readonly items: readonly GeneralItem[] }) {
  const save = useWrite(writeRoute, [readRoute]);
  const toasts = useToasts();
  return (
    <RecordForm
      stored={Object.fromEntries(items.map(({ Name, Value }) => [Name, Value]))}
      sections={[{ title: own.setHere, fields: items.map(toField) }]}
      action={own.save}
      isBusy={save.isPending}
      error={save.error}
      onSave={async (_draft, changes, accept) => {
        await save.mutateAsync({ given: { body: changes as GeneralChange } });
        accept();
        toasts.showSuccess(own.saved);
      }}
    />
  );
}

/** Values that replace configured ones; each is reset by its button. */
function StoredValues({ items }: { readonly items: readonly GeneralItem[] }) {
  const save = useWrite(writeRoute, [readRoute]);
  const toasts = useToasts();
  if (items.length === 0) return undefined;
  const reset = (name: string) =>
    save.mutate(
      { given: { body: { [name]: null } as GeneralChange } },
      {
        onSuccess: () => toasts.showSuccess(own.wasReset(findLabel(name))),
        onError: error => toasts.showError(error.message),
      },
    );
  return (
    <Card title={own.changed}>
      <ul className="flex flex-col gap-2">
        {items.map(({ Name, Configured }) => (
          <li key={Name} className="flex flex-wrap items-center justify-between gap-2">
            <span>
              {findLabel(Name)} <span className="text-dim">{own.configured(toWords(Configured))}</span>
            </span>
            <Button icon={RotateCcw} isBusy={save.isPending} onClick={() => reset(Name)}>
              {own.reset(findLabel(Name))}
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

const ProcessSettings = ({ items }: { readonly items: readonly GeneralItem[] }) => (
  <Card title={own.ofProcess}>
    <dl className="flex flex-col gap-4">
      {items.map(({ Name, Value, Source, About }) => (
        <div key={Name}>
          <dt className="flex flex-wrap items-center gap-2">
            <code>{Name}</code>
            <Badge>{own.sources[Source]}</Badge>
          </dt>
          <dd className="font-medium break-words">{toWords(Value)}</dd>
          <dd className="text-small text-dim">
            <MarkedText text={About} />
          </dd>
        </div>
      ))}
    </dl>
  </Card>
);
