import type { TermsOutline } from '../../terms/store.ts';
import type { FieldErrors } from '../form.ts';
import { html, type Markup } from '../markup.ts';
import type { SiteFields } from '../page.ts';

/** Tick of forms with which a visitor accepts the terms of use. */

export const termsPath = '/portal/terms';
export const toTermsUrl = ({ Version }: TermsOutline): string => `${termsPath}/${encodeURIComponent(Version)}`;

/** The tick names the version: one published meanwhile is asked for again. */
export const renderTermsField = (
  current: TermsOutline | undefined,
  errors: FieldErrors,
  name = 'terms of use',
  field = 'terms',
): Markup | '' =>
  current === undefined
    ? ''
    : html`<div class="field"><label class="tick"><input type="checkbox" name="${field}" value="${current.ID}" required
${errors.has(field) ? html` aria-describedby="${field}-note" aria-invalid="true"` : ''}> <span>I accept the
<a href="${toTermsUrl(current)}" target="_blank" rel="noopener">${name}, version ${current.Version}</a></span></label>
${errors.has(field) ? html`<p class="error" id="${field}-note">${errors.get(field)}</p>` : ''}</div>`;

/** The accepted version; 0 where there are no terms. A missing tick is added to `errors`. */
export function readTermsField(
  form: SiteFields,
  current: TermsOutline | undefined,
  errors: Map<string, string>,
  field = 'terms',
): number {
  if (current !== undefined && form(field) !== String(current.ID)) errors.set(field, 'Accept the terms');
  return current?.ID ?? 0;
}
