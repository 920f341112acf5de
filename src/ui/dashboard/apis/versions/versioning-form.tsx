import { QueryState } from '../../../kit/states.tsx';
import type { LoadedApi } from '../api-frame.tsx';
import { DefinitionSaveBar } from '../designer/save-bar.tsx';
import { useDraftForm } from '../designer/use-definition-form.ts';
import { useDefinitionDraft } from '../designer/use-draft.ts';
import { DefinitionFormContext } from '../form/form-context.ts';
import { findSchema } from '../form/form-schema.ts';
import { DefinitionField } from '../form/schema-field.tsx';
import { gatewayMember, useDefinitionSchema } from '../form/use-definition-schema.ts';

const path = [gatewayMember, 'info', 'versioning'];
const members = ['location', 'key', 'default', 'fallbackToDefault', 'stripVersioningData', 'urlVersioningPattern'];

/** How a request names its version. */
export function VersioningForm(loaded: LoadedApi) {
  const draft = useDefinitionDraft(loaded);
  const { form, isIncomplete } = useDraftForm(draft);
  const schema = useDefinitionSchema('oas');
  if (!schema.data) return <QueryState query={schema} />;
  const versioning = findSchema(schema.data, path);
  return (
    <DefinitionFormContext value={form}>
      <div className="flex max-w-[640px] flex-col gap-4">
        {versioning &&
          members.map(name => {
            const member = findSchema(versioning, [name]);
            return member && <DefinitionField key={name} path={[...path, name]} schema={member} />;
          })}
        <DefinitionSaveBar draft={draft} isIncomplete={isIncomplete} />
      </div>
    </DefinitionFormContext>
  );
}
