import { Disclosure } from '../../kit/disclosure.tsx';
import { SelectField } from '../../kit/field.tsx';
import { LinesField } from '../../kit/lines-field.tsx';
import { useOperation } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { apiPlacementTexts as own } from '../../texts/en/api-placement.ts';
import { usePermission } from '../session/session.ts';

interface TemplateChoice {
  /** Empty without a template. */
  readonly id: string;
  onChange(id: string): void;
}

interface PlacementFieldsProps {
  readonly tags: readonly string[];
  onTags(tags: readonly string[]): void;
  /** For APIs in the OpenAPI format only. */
  readonly template?: TemplateChoice;
}

/** Template and gateway tags of a new API; closed, with the number of what is set. */
export function PlacementFields({ tags, onTags, template }: PlacementFieldsProps) {
  const canReadTemplates = usePermission('api_assets');
  const count = tags.length + (template && template.id !== '' ? 1 : 0);
  return (
    <Disclosure
      summary={
        <>
          <span className="font-medium">{own.title}</span>
          {count > 0 && <span className="text-dim">{own.set(count)}</span>}
        </>
      }
    >
      <div className="flex flex-col gap-4 pt-3">
        {template && canReadTemplates && <TemplateField {...template} />}
        <LinesField label={own.tags} help={own.tagsHelp} values={tags} onChange={onTags} />
      </div>
    </Disclosure>
  );
}

function TemplateField({ id, onChange }: TemplateChoice) {
  const templates = useOperation('GET /api/assets', { query: {} });
  return (
    <>
      <ErrorText error={templates.error} />
      <SelectField
        label={own.template}
        help={own.templateHelp}
        value={id}
        onChange={event => onChange(event.target.value)}
        options={[
          { value: '', label: own.noTemplate },
          ...(templates.data?.value ?? []).map(it => ({ value: it.id || it._id, label: it.name || it.id })),
        ]}
      />
    </>
  );
}
