import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { type Missing, present, problem } from '../problems.ts';
import { numberedId, okResponse, okStatus, portalId, portalPageQuery } from '../shapes.ts';
import { toUserAttributeView, UserAttribute, UserAttributeChange } from './schema.ts';
import { userModelId } from './store.ts';
import { changeAttributeValues, lockAttributeValues, refuseValueChange } from './value-change.ts';

const declared = { surface: 'portal', noun: 'portal users', permission: 'secret' } as const;
const ofUser = z.object({ user_id: portalId });
const ofAttribute = ofUser.extend({ custom_attribute_id: numberedId });
const listPath = '/portal-api/users/{user_id}/custom-attributes';
const attributePath = `${listPath}/{custom-attribute_id}`;
type Services = Pick<PortalServices, 'portal' | 'records'>;

async function requireAttribute(params: z.output<typeof ofAttribute>, { portal }: Services, missing: Missing) {
  const user = present(await portal.users.get(params.user_id), 'User', missing);
  const found = await portal.attributes.custom.get(params.custom_attribute_id);
  const attribute = present(found?.ModelID === userModelId ? found : undefined, 'Custom attribute', missing);
  return { user, attribute };
}

export const listUserAttributes = operation({
  ...declared,
  name: 'listUserAttributes',
  method: 'GET',
  path: listPath,
  about: 'Lists the custom attributes of a user; an attribute without a value has an empty one.',
  params: ofUser,
  query: portalPageQuery,
  returns: z.array(UserAttribute),
  problems: [problem.not_found],
  async handle({ params, query }, { portal }: Services) {
    const { ID } = present(await portal.users.get(params.user_id), 'User');
    const values = new Map((await portal.attributes.values.ofUser(ID)).map(it => [it.AttributeID, it.Value]));
    const page = await portal.attributes.custom.page(query, { model_id: userModelId });
    return page.map(attribute => toUserAttributeView(attribute, values.get(attribute.ID) ?? ''));
  },
});

export const getUserAttribute = operation({
  ...declared,
  name: 'getUserAttribute',
  method: 'GET',
  path: attributePath,
  about: 'Returns a custom attribute of a user with its value.',
  params: ofAttribute,
  returns: UserAttribute,
  problems: [problem.not_found],
  async handle({ params }, services: Services) {
    const { user, attribute } = await requireAttribute(params, services, 'not_found');
    const stored = await services.portal.attributes.values.find(user.ID, attribute.ID);
    return toUserAttributeView(attribute, stored?.Value ?? '');
  },
});

export const updateUserAttribute = operation({
  ...declared,
  name: 'updateUserAttribute',
  method: 'PUT',
  path: attributePath,
  about: 'Sets a custom attribute of a user; an empty value clears it. New keys get it where the attribute says so.',
  params: ofAttribute,
  body: UserAttributeChange,
  returns: UserAttribute,
  problems: [problem.unknown, problem.attribute_read_only, problem.attribute_required],
  async handle({ params, body, audit }, services: Services) {
    const { user, attribute } = await requireAttribute(params, services, 'unknown');
    audit(String(user.ID));
    const changes = new Map([[attribute.ID, body.Value]]);
    const [changed] = await services.records.write(() =>
      changeAttributeValues(user.ID, changes, 'administrator', services),
    );
    return toUserAttributeView(changed!, body.Value);
  },
});

export const deleteUserAttribute = operation({
  ...declared,
  name: 'deleteUserAttribute',
  method: 'DELETE',
  path: attributePath,
  about: 'Clears a custom attribute of a user; the attribute itself is not deleted.',
  params: ofAttribute,
  returns: okResponse,
  problems: [problem.not_found, problem.attribute_read_only, problem.attribute_required],
  async handle({ params, audit }, services: Services) {
    const { user, attribute } = await requireAttribute(params, services, 'not_found');
    audit(String(user.ID));
    await services.records.write(async () => {
      const [locked] = await lockAttributeValues(user.ID, [attribute.ID], services, 'not_found');
      const stored = present(locked!.stored, 'Value');
      refuseValueChange(locked!.attribute, stored.Value, '');
      await services.portal.attributes.values.remove(stored.ID);
    });
    return okStatus;
  },
});

export const userAttributeOperations = [listUserAttributes, getUserAttribute, updateUserAttribute, deleteUserAttribute];
