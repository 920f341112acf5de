import type { PickItem } from '../../kit/pick-list.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import type { FieldSpec } from '../forms/record-field.tsx';
import type { FormSection } from '../forms/record-form.tsx';

const own = adminTexts.products;

const name: FieldSpec = { name: 'Name', label: own.columns.name, help: own.nameHelp, isRequired: true };
const displayName: FieldSpec = { name: 'DisplayName', label: own.displayName };
const description: FieldSpec = { name: 'Description', label: own.description, help: own.plainText, kind: 'area' };

/** Fields of a product on its page. */
export const productSections: readonly FormSection[] = [
  {
    title: own.details,
    fields: [
      name,
      displayName,
      { name: 'Path', label: own.columns.path, help: own.pathHelp, isMono: true },
      description,
      { name: 'Content', label: own.content, help: own.markdown, kind: 'area', rows: 10 },
      { name: 'Tags', label: own.tags, help: own.tagsHelp, kind: 'lines' },
      { name: 'Feature', label: own.feature, kind: 'switch' },
    ],
  },
  {
    title: own.registration,
    fields: [
      { name: 'DCREnabled', label: own.dcr, kind: 'switch' },
      { name: 'Scopes', label: own.scopes, isMono: true, isShown: it => it.DCREnabled === true },
    ],
  },
];

/** Fields of a new product: its APIs are those of one provider. */
export const createNewProductSections = (providers: readonly PickItem[]): readonly FormSection[] => [
  {
    title: own.details,
    fields: [
      name,
      displayName,
      {
        name: 'ProviderID',
        label: own.provider,
        kind: 'select',
        isRequired: true,
        options: [{ value: '', label: '–' }, ...providers.map(({ id, name: label }) => ({ value: id, label }))],
      },
      description,
    ],
  },
];
