import { canEditAttribute, isHiddenAttribute } from '../../attributes/rules.ts';
import type { StoredAttribute } from '../../attributes/schema.ts';
import { userModelId } from '../../attributes/store.ts';
import { changeAttributeValues } from '../../attributes/value-change.ts';
import { readAttributeFields, renderAttributeField, toAttributeField } from '../attribute-fields.ts';
import { auditForm } from '../audit.ts';
import { describeFailure } from '../failure-text.ts';
import { type FieldErrors, renderFormError } from '../form.ts';
import { toFormErrors } from '../json/script-reply.ts';
import { renderCsrfField } from '../layout.ts';
import { html, type Markup } from '../markup.ts';
import {
  profilePath,
  type SiteDocument,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
} from '../page.ts';

const ownAttributesPath = `${profilePath}/attributes`;

interface OwnAttribute {
  readonly attribute: StoredAttribute;
  readonly value: string;
  readonly canEdit: boolean;
}

/** Attributes that the visitor may see, in the order in which they were created. */
async function listOwnAttributes({ visitor }: SiteRequest, { portal }: SiteServices): Promise<OwnAttribute[]> {
  const attributes = (await portal.attributes.custom.ofModel(userModelId)).filter(it => !isHiddenAttribute(it));
  if (attributes.length === 0) return [];
  const values = new Map(
    (await portal.attributes.values.ofUser(visitor.user!.ID)).map(it => [it.AttributeID, it.Value]),
  );
  return attributes
    .toSorted((a, b) => a.ID - b.ID)
    .map(attribute => {
      const value = values.get(attribute.ID) ?? '';
      return { attribute, value, canEdit: canEditAttribute(attribute, value) };
    });
}

const formatValue = ({ attribute, value }: OwnAttribute): string => {
  if (value === '') return 'Not set';
  if (attribute.Type !== 3) return value;
  return value === 'true' ? 'Yes' : 'No';
};

const renderValue = (own: OwnAttribute): Markup => {
  const { attribute, value } = own;
  const isWritten = attribute.Behaviour === 1 && value !== '';
  return html`<dt>${attribute.Name}</dt>
<dd>${formatValue(own)}${isWritten ? html` <span class="dim">(cannot be changed)</span>` : ''}</dd>`;
};

function renderAttributes(
  own: readonly OwnAttribute[],
  { form, visitor }: SiteRequest,
  errors: FieldErrors,
  failure = '',
): Markup {
  const [editable, fixed] = [own.filter(it => it.canEdit), own.filter(it => !it.canEdit)];
  const isRepeated = errors.size > 0 || failure !== '';
  const fields = editable.map(({ attribute, value }) =>
    renderAttributeField(attribute, isRepeated ? form(toAttributeField(attribute)) : value, errors),
  );
  return html`<form class="form broad" method="post" action="${ownAttributesPath}"><h2>Details</h2>
${renderFormError(failure)}${renderCsrfField(visitor.csrfToken)}
${fixed.length > 0 ? html`<dl>${fixed.map(renderValue)}</dl>` : ''}${fields}
${editable.length > 0 ? html`<button>Save details</button>` : ''}</form>`;
}

/** Section of the profile: custom attributes, by what users may do with them. */
export async function renderOwnAttributes(request: SiteRequest, services: SiteServices): Promise<Markup | ''> {
  const own = await listOwnAttributes(request, services);
  return own.length === 0 ? '' : renderAttributes(own, request, new Map());
}

const toFormDocument = (
  own: readonly OwnAttribute[],
  request: SiteRequest,
  errors: FieldErrors,
  failure = '',
): SiteDocument => ({
  status: 422,
  json: toFormErrors(errors, failure),
  title: 'Details',
  section: 'profile',
  main: html`<div class="head"><h1>Profile</h1></div>${renderAttributes(own, request, errors, failure)}
<p><a href="${profilePath}">Back to the profile</a></p>`,
});

/** Mass assignment: only attributes that the user may edit are read from the form. */
async function submitAttributes(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { form, visitor } = request;
  const own = await listOwnAttributes(request, services);
  const editable = own.filter(it => it.canEdit).map(({ attribute }) => attribute);
  const errors = new Map<string, string>();
  const sent = new Map(readAttributeFields(editable, form, errors));
  if (errors.size > 0) return toFormDocument(own, request, errors);
  const changes = new Map(editable.map(({ ID }) => [ID, sent.get(ID) ?? '']));
  try {
    await services.records.write(() => changeAttributeValues(visitor.user!.ID, changes, 'user', services));
  } catch (error) {
    // An attribute was changed or removed meanwhile.
    return toFormDocument(own, request, errors, describeFailure(error, services));
  }
  await auditForm('updateOwnAttributes', request, visitor.user, 303, services);
  return { redirect: profilePath };
}

export const ownAttributePages: readonly SitePage[] = [
  { method: 'POST', path: ownAttributesPath, access: 'user', respond: submitAttributes },
];
