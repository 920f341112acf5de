import { listSharedClientTypes } from '../../apps/client-choice.ts';
import { needsRedirect } from '../../oauth-clients/metadata.ts';
import type { StoredClientType } from '../../oauth-providers/schema.ts';
import type { StoredProduct } from '../../products/schema.ts';
import { type FieldErrors, renderField, renderSelectField } from '../form.ts';
import { html, type Markup } from '../markup.ts';
import type { SiteFields, SiteServices } from '../page.ts';
import { readObjectId } from './own-apps.ts';

/** Name of the field that chooses the client type. */
const typeField = 'app-action-template';
const redirectField = 'redirect_urls';
const maxRedirectChars = 10_000;

const grantTexts: Readonly<Record<string, string>> = {
  authorization_code: 'users sign in by their browser',
  pkce: 'users sign in by their browser, without a secret in the client',
  client_credentials: 'the client acts for itself',
  device_code: 'users sign in on another device',
  refresh_token: 'tokens are renewed',
  password: 'users give the client their password',
  implicit: 'tokens come with the redirect',
};

const describeType = ({ Name, Description, GrantType, OktaAppType }: StoredClientType): string => {
  const grants = GrantType.split(',').flatMap(it => grantTexts[it] ?? []);
  return [Name, Description || grants.join(', ') || OktaAppType].filter(Boolean).join(': ');
};

/** Fields of an OAuth client: its type, and the addresses of the app where the grant needs them. */
export async function renderClientFields(
  products: readonly StoredProduct[],
  form: SiteFields,
  errors: FieldErrors,
  services: SiteServices,
): Promise<Markup | ''> {
  if (!products[0]?.DCREnabled) return '';
  const types = await listSharedClientTypes(products, services);
  if (types.length === 0) return html`<p class="message errors">The product has no client type: ask its owner.</p>`;
  const hasRedirect = types.some(needsRedirect);
  return html`<h2>3. OAuth client</h2>${
    types.length === 1
      ? html`<p>${describeType(types[0]!)}</p><input type="hidden" name="${typeField}" value="${types[0]!.ID}">`
      : renderSelectField({
          name: typeField,
          label: 'Client type',
          value: form(typeField),
          options: types.map(type => [String(type.ID), describeType(type)]),
          error: errors.get(typeField),
        })
  }${
    hasRedirect
      ? renderField({
          name: redirectField,
          label: 'Redirect URLs',
          value: form(redirectField),
          help: 'Addresses to which users come back after they signed in, separated by commas',
          error: errors.get(redirectField),
          maxLength: maxRedirectChars,
          isOptional: !types.every(needsRedirect),
        })
      : ''
  }`;
}

/** Client type and addresses of a form. */
export const readClientFields = ({ DCREnabled }: StoredProduct, form: SiteFields) => ({
  DCRTemplateID: DCREnabled ? readObjectId(form(typeField)) : undefined,
  RedirectURLs: DCREnabled ? form(redirectField).slice(0, maxRedirectChars) : undefined,
});
