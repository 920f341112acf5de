import { CodeEditor } from '../../kit/code-editor.tsx';
import { ErrorText } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { ApiFrame, type LoadedApi } from './api-frame.tsx';
import { DefinitionSaveBar } from './designer/save-bar.tsx';
import { useDefinitionDraft } from './designer/use-draft.ts';

/** Definition as JSON: checked by the server while it is edited, compared before it is saved. */
export const ApiCodePage = () => <ApiFrame>{loaded => <DefinitionEditor key={loaded.api.id} {...loaded} />}</ApiFrame>;

function DefinitionEditor(loaded: LoadedApi) {
  const draft = useDefinitionDraft(loaded);
  return (
    <div className="flex flex-col gap-3">
      <CodeEditor
        label={texts.apis.codeLabel(loaded.api.name)}
        value={draft.text}
        isReadOnly={!draft.canWrite}
        marks={draft.check.marks}
        onChange={draft.setText}
      />
      <ErrorText error={draft.check.error} />
      <DefinitionSaveBar draft={draft} />
    </div>
  );
}
