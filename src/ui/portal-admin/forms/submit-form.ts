import { readCsrfToken } from '../../kit/calls.ts';

/** Sends a form of the site in this browser: its reply is a document in a tab or frame, which no script reads. */
export function submitSiteForm(action: string, target: string, fields: Readonly<Record<string, string>>): void {
  const form = document.createElement('form');
  Object.assign(form, { method: 'post', action, target, hidden: true });
  for (const [name, value] of Object.entries({ csrf_token: readCsrfToken(), ...fields })) {
    const field = document.createElement('textarea');
    field.name = name;
    field.value = value;
    form.append(field);
  }
  document.body.append(form);
  form.submit();
  form.remove();
}
