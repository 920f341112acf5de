import { useState } from 'react';
import { Button } from '../../../kit/button.tsx';
import { Card } from '../../../kit/card.tsx';
import { SelectField, Switch, TextField } from '../../../kit/field.tsx';
import { useOperation } from '../../../kit/queries.ts';
import { ErrorText } from '../../../kit/states.tsx';
import { importApiTexts } from '../../../texts/en/import-api.ts';
import { texts } from '../../../texts/texts.ts';
import { toApiOutline } from '../api-outline.ts';
import type { FormObject } from '../form/json-members.ts';
import { type ImportDraft, readTitle } from './import-options.ts';
import { ImportPreview } from './import-preview.tsx';
import { useImport } from './use-import.ts';

const own = importApiTexts;
const toggles = ['validateRequest', 'mockResponse', 'authentication', 'allowList'] as const;

interface OptionsProps {
  readonly document: FormObject;
  readonly format: string;
  /** Text of the document, where it was not converted. */
  readonly text: string | undefined;
  readonly initial: ImportDraft;
}

/** Options of an import, its preview, and the button that stores it. */
export function ImportOptionsCard({ document, format, text, initial }: OptionsProps) {
  const [draft, setDraft] = useState(initial);
  const run = useImport(document, text);
  const set = (some: Partial<ImportDraft>) => {
    setDraft(before => ({ ...before, ...some }));
    run.reset();
  };
  const title = readTitle(document);
  const isUpdate = draft.apiId !== '';
  return (
    <>
      <Card title={own.recognised(format, title)}>
        <div className="flex flex-col gap-4">
          <TargetField title={title} value={draft.apiId} onChange={apiId => set({ apiId })} />
          {!isUpdate && <AddressFields draft={draft} onChange={set} />}
          {toggles.map(name => (
            <Switch
              key={name}
              label={own.toggles[name].label}
              help={own.toggles[name].help}
              checked={draft[name]}
              onChange={event => set({ [name]: event.target.checked })}
            />
          ))}
          <ErrorText error={run.error} />
          <div>
            <Button
              kind={run.preview ? 'secondary' : 'primary'}
              isBusy={run.isPreviewing}
              onClick={() => run.show(draft)}
            >
              {own.preview}
            </Button>
          </div>
        </div>
      </Card>
      {run.preview && (
        <ImportPreview
          preview={run.preview}
          isBusy={run.isStoring}
          action={isUpdate ? own.update : texts.apis.createAction}
          onStore={() => run.store(draft)}
        />
      )}
    </>
  );
}

interface AddressFieldsProps {
  readonly draft: ImportDraft;
  onChange(some: Partial<ImportDraft>): void;
}

const AddressFields = ({ draft, onChange }: AddressFieldsProps) => (
  <div className="grid gap-4 min-[700px]:grid-cols-2">
    <TextField
      label={texts.apis.listenPath}
      isMono
      required
      value={draft.listenPath}
      onChange={event => onChange({ listenPath: event.target.value })}
    />
    <TextField
      label={texts.apis.upstream}
      isMono
      required
      type="url"
      help={own.upstreamHelp}
      value={draft.upstream}
      onChange={event => onChange({ upstream: event.target.value })}
    />
  </div>
);

/** APIs of the same title are offered for an update, so that a second import is no second API. */
function TargetField({ title, value, onChange }: { title: string; value: string; onChange(apiId: string): void }) {
  const { data } = useOperation('GET /api/apis', { query: { q: title, format: 'oas' } });
  // The search also finds names that contain the title.
  const found = (data?.value.apis ?? []).map(toApiOutline).filter(({ name }) => name === title);
  if (found.length === 0) return null;
  return (
    <SelectField
      label={own.target}
      help={own.targetHelp}
      value={value}
      onChange={event => onChange(event.target.value)}
      options={[
        { value: '', label: own.newApi },
        ...found.map(({ id, name, listenPath }) => ({ value: id, label: own.updateOf(name, listenPath) })),
      ]}
    />
  );
}
