import { lazy, Suspense, useMemo, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { CodeEditor } from '../../kit/code-editor.tsx';
import { SelectField } from '../../kit/field.tsx';
import { ErrorText, Skeleton } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { ApiFrame, type LoadedApi } from './api-frame.tsx';
import { DefinitionSaveBar } from './designer/save-bar.tsx';
import { useDefinitionDraft } from './designer/use-draft.ts';
import { toCodeOutline } from './form/code-outline.ts';
import { useDefinitionSchema } from './form/use-definition-schema.ts';

const own = texts.apis;
const YamlEditor = lazy(() => import('./yaml-editor.tsx'));
type Notation = 'json' | 'yaml';

/** Definition as JSON or YAML: checked by the server while it is edited, compared before it is saved. */
export const ApiCodePage = () => <ApiFrame>{loaded => <DefinitionEditor key={loaded.api.id} {...loaded} />}</ApiFrame>;

const isJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const formatJson = (text: string) => JSON.stringify(JSON.parse(text), null, 2);

function DefinitionEditor(loaded: LoadedApi) {
  const draft = useDefinitionDraft(loaded);
  const [notation, setNotation] = useState<Notation>('json');
  const [hasFault, setFault] = useState(false);
  const label = own.codeLabel(loaded.api.name);
  const schema = useDefinitionSchema(loaded.api.format).data;
  const outline = useMemo(() => schema && toCodeOutline(schema), [schema]);
  const canSwitch = notation === 'yaml' ? !hasFault : isJson(draft.text);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-start justify-between gap-2">
        <div className="w-40">
          <SelectField
            label={own.notation}
            disabled={!canSwitch}
            help={canSwitch ? undefined : own.notationFault}
            value={notation}
            onChange={event => setNotation(event.target.value as Notation)}
            options={Object.entries(own.notations).map(([value, text]) => ({ value, label: text }))}
          />
        </div>
        {notation === 'json' && draft.canWrite && (
          <Button className="mt-6" disabled={!isJson(draft.text)} onClick={() => draft.setText(formatJson(draft.text))}>
            {own.formatCode}
          </Button>
        )}
      </div>
      {notation === 'json' ? (
        <CodeEditor
          label={label}
          value={draft.text}
          isReadOnly={!draft.canWrite}
          marks={draft.check.marks}
          outline={outline}
          onChange={draft.setText}
        />
      ) : (
        <Suspense fallback={<Skeleton lines={8} />}>
          <YamlEditor label={label} draft={draft} outline={outline} onFault={setFault} />
          <p className="text-small text-dim">{own.yamlAbout}</p>
        </Suspense>
      )}
      <ErrorText error={draft.check.error} />
      <DefinitionSaveBar draft={draft} isIncomplete={hasFault} />
    </div>
  );
}
