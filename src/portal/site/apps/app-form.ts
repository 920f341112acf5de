import type { StoredApp } from '../../apps/schema.ts';
import { hasPersonalApps } from '../../organisations/schema.ts';
import { type FieldErrors, renderField, renderSelectField, renderTextArea } from '../form.ts';
import { html, type Markup } from '../markup.ts';
import type { SiteFields } from '../page.ts';

const maxNameChars = 255;
const maxDescriptionChars = 10_000;
const visibilities = [
  ['personal', 'Personal: you, and administrators of your organisation'],
  ['team', 'Team: members of your teams see it'],
  ['organisation', 'Organisation: all members see it'],
] as const;

type AppFields = Pick<StoredApp, 'Name' | 'Description' | 'Visibility'>;

export const emptyApp: AppFields = { Name: '', Description: '', Visibility: 'personal' };

/** Fields of an app; where the owner's organisation shares no apps, there is no choice of visibility. */
export function renderAppFields(
  values: AppFields,
  organisationId: number,
  errors: FieldErrors,
  /** The fields count where a new app is chosen only. */
  isConditional = false,
): Markup {
  return html`${renderField({
    name: 'client_name',
    label: 'Name of the app',
    value: values.Name,
    error: errors.get('client_name'),
    maxLength: maxNameChars,
    isConditional,
  })}${renderTextArea({
    name: 'description',
    label: 'Description',
    value: values.Description,
    error: errors.get('description'),
    maxLength: maxDescriptionChars,
    isOptional: true,
  })}${
    hasPersonalApps(organisationId)
      ? ''
      : renderSelectField({
          name: 'client_visibility',
          label: 'Visibility',
          value: values.Visibility,
          options: visibilities,
          help: 'Owner and administrators change the app and its credentials; others see them.',
        })
  }`;
}

/** Values of the fields; faults are added to `errors`. */
export function readAppFields(form: SiteFields, errors: Map<string, string>): AppFields {
  const Name = form('client_name').trim();
  const Description = form('description').trim();
  if (Name === '') errors.set('client_name', 'Is required');
  if (Name.length > maxNameChars) errors.set('client_name', `Is longer than ${maxNameChars} characters`);
  if (Description.length > maxDescriptionChars)
    errors.set('description', `Is longer than ${maxDescriptionChars} characters`);
  const Visibility = visibilities.find(([value]) => value === form('client_visibility'))?.[0] ?? 'personal';
  return { Name, Description, Visibility };
}
