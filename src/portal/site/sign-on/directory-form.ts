import { renderField } from '../form.ts';
import { renderCsrfField } from '../layout.ts';
import { html, type Markup } from '../markup.ts';
import type { SignOnOption } from './sign-on-profiles.ts';

/** Form for name and password of a directory. A page has several: ids begin with the path of their profile. */
export function renderDirectoryForm(
  { name, path }: Pick<SignOnOption, 'name' | 'path'>,
  csrfToken: string,
  next: string,
  error: Markup | '' = '',
): Markup {
  return html`<form class="form" method="post" action="${path}"><h2>${name}</h2>${error}${renderCsrfField(csrfToken)}
<input type="hidden" name="next" value="${next}">
${renderField({ name: 'username', id: `${path}-username`, label: 'User name', autocomplete: 'username', maxLength: 254 })}
${renderField({
  name: 'password',
  id: `${path}-password`,
  label: `Password of ${name}`,
  type: 'password',
  autocomplete: 'current-password',
  maxLength: 1024,
})}<button>Sign in with ${name}</button></form>`;
}
