import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { type Missing, present, problem } from '../problems.ts';
import { numberedId, okResponse, okStatus, paginate, portalPageQuery } from '../shapes.ts';
import { checkAttribute } from './rules.ts';
import {
  AttributeChange,
  AttributeModel,
  AttributeModelRow,
  type AttributeType,
  AttributeWrite,
  CountedAttribute,
  CustomAttribute,
  DefaultAttributeChange,
  DefaultAttributeView,
  type StoredAttribute,
  toAttributeView,
  toModelRow,
} from './schema.ts';

const declared = { surface: 'portal', noun: 'attributes', permission: 'secret' } as const;
const ofModel = z.object({ extended_attribute_id: numberedId });
const ofCustom = ofModel.extend({ custom_attribute_id: numberedId });
const ofDefault = ofModel.extend({ default_attribute_id: numberedId });
const modelPath = '/portal-api/extended_attributes/{extended_attribute_id}';
const customPath = `${modelPath}/custom-attributes`;
const defaultPath = `${modelPath}/default-attributes`;
/** Every key may carry all of them. */
const maxAttributes = 100;
type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'>;

const requireModel = async (id: number, { portal }: Services, missing: Missing = 'not_found') =>
  present(await portal.attributes.models.get(id), 'Extended attribute', missing);

/** An attribute of a model; one of another model is as good as none. */
const requireOfModel = (attribute: StoredAttribute | undefined, modelId: number, missing: Missing = 'not_found') =>
  present(attribute?.ModelID === modelId ? attribute : undefined, 'Custom attribute', missing);

const touchModel = (id: number, { portal, clock }: Services) =>
  portal.attributes.models.change(id, it => ({ ...it, UpdatedAt: clock.now() }));

export const listExtendedAttributes = operation({
  ...declared,
  name: 'listExtendedAttributes',
  method: 'GET',
  path: '/portal-api/extended_attributes',
  about: 'Lists the kinds of object with custom attributes: users.',
  query: portalPageQuery,
  returns: z.array(AttributeModelRow),
  async handle({ query }, { portal }: Services) {
    return (await portal.attributes.models.page(query)).map(toModelRow);
  },
});

export const getExtendedAttribute = operation({
  ...declared,
  name: 'getExtendedAttribute',
  method: 'GET',
  path: modelPath,
  about: 'Returns a kind of object with its custom and default attributes.',
  params: ofModel,
  returns: AttributeModel,
  problems: [problem.not_found],
  async handle({ params }, services: Services) {
    const model = await requireModel(params.extended_attribute_id, services);
    const custom = await services.portal.attributes.custom.ofModel(model.ID);
    return {
      ...toModelRow(model),
      CustomAttributes: custom.map(toAttributeView),
      DefaultAttributes: model.Defaults,
    };
  },
});

export const listCustomAttributes = operation({
  ...declared,
  name: 'listCustomAttributes',
  method: 'GET',
  path: customPath,
  about: 'Lists the custom attributes, newest first.',
  params: ofModel,
  query: portalPageQuery,
  returns: z.array(CustomAttribute),
  problems: [problem.not_found],
  async handle({ params, query }, services: Services) {
    const { ID } = await requireModel(params.extended_attribute_id, services);
    return (await services.portal.attributes.custom.page(query, { model_id: ID })).map(toAttributeView);
  },
});

export const createCustomAttribute = operation({
  ...declared,
  name: 'createCustomAttribute',
  method: 'POST',
  path: customPath,
  about: 'Creates a custom attribute of users; its type cannot change later.',
  params: ofModel,
  body: AttributeWrite,
  example: { Identifier: 'cost-centre', Name: 'Cost centre', Type: 1, AddToKeyMetadata: true },
  returns: CustomAttribute,
  status: 201,
  problems: [problem.unknown, problem.attribute_exists, problem.too_many_attributes],
  async handle({ params, body, audit }, services: Services) {
    const { portal, records, clock } = services;
    const { ID: ModelID } = await requireModel(params.extended_attribute_id, services, 'unknown');
    const now = clock.now();
    const attribute = {
      ModelID,
      Identifier: body.Identifier,
      Name: body.Name,
      Type: body.Type as AttributeType,
      ...toDetails(body, undefined),
      CreatedAt: now,
      UpdatedAt: now,
    };
    checkAttribute(attribute);
    const created = await records.write(async () => {
      await touchModel(ModelID, services);
      if ((await portal.attributes.custom.count({ model_id: ModelID })) >= maxAttributes)
        throw problem.too_many_attributes({ detail: { maxAttributes } });
      return portal.attributes.custom.insert(attribute);
    });
    audit(String(created.ID));
    return toAttributeView(created);
  },
});

/** Metadata of keys decides in plugins and logs: users write it where an administrator says so, or at the sign-up. */
const selectBehaviour = ({ AddToKeyMetadata = false, ShowOnSignUp = false }: AttributeChange) =>
  AddToKeyMetadata && !ShowOnSignUp ? 2 : 1;

/** Optional members of a body: absent ones do not change. */
const toDetails = (body: AttributeChange, it: StoredAttribute | undefined) => ({
  Description: body.Description ?? it?.Description ?? '',
  Behaviour: (body.Behaviour ?? it?.Behaviour ?? selectBehaviour(body)) as StoredAttribute['Behaviour'],
  DropdownValues: body.DropdownValues ?? it?.DropdownValues ?? '',
  ValidationRegExp: body.ValidationRegExp ?? it?.ValidationRegExp ?? '',
  AddToKeyMetadata: body.AddToKeyMetadata ?? it?.AddToKeyMetadata ?? false,
  Required: body.Required ?? it?.Required ?? false,
  ShowOnSignUp: body.ShowOnSignUp ?? it?.ShowOnSignUp ?? false,
  WriteOnceReadMany: body.WriteOnceReadMany ?? it?.WriteOnceReadMany ?? false,
});

export const getCustomAttribute = operation({
  ...declared,
  name: 'getCustomAttribute',
  method: 'GET',
  path: `${customPath}/{custom_attribute_id}`,
  about: 'Returns a custom attribute with the number of users who have a value (`ValueCount`).',
  params: ofCustom,
  returns: CountedAttribute,
  problems: [problem.not_found],
  async handle({ params }, { portal }: Services) {
    const stored = await portal.attributes.custom.get(params.custom_attribute_id);
    const found = requireOfModel(stored, params.extended_attribute_id);
    return { ...toAttributeView(found), ValueCount: await portal.attributes.values.countOf(found.ID) };
  },
});

export const updateCustomAttribute = operation({
  ...declared,
  name: 'updateCustomAttribute',
  method: 'PUT',
  path: `${customPath}/{custom_attribute_id}`,
  about: 'Updates a custom attribute; stored values of users do not change. Omitted members do not change.',
  params: ofCustom,
  body: AttributeChange,
  returns: CustomAttribute,
  problems: [problem.unknown, problem.attribute_exists, problem.attribute_type_fixed],
  async handle({ params, body, audit }, services: Services) {
    const { portal, records, clock } = services;
    audit(String(params.custom_attribute_id));
    const changed = await records.write(async () => {
      await touchModel(params.extended_attribute_id, services);
      return portal.attributes.custom.change(params.custom_attribute_id, it => {
        requireOfModel(it, params.extended_attribute_id, 'unknown');
        if (body.Type !== undefined && body.Type !== it.Type) throw problem.attribute_type_fixed();
        const next = {
          ...it,
          Identifier: body.Identifier ?? it.Identifier,
          Name: body.Name ?? it.Name,
          ...toDetails(body, it),
          UpdatedAt: clock.now(),
        };
        checkAttribute(next);
        return next;
      });
    });
    return toAttributeView(present(changed, 'Custom attribute', 'unknown'));
  },
});

export const deleteCustomAttribute = operation({
  ...declared,
  name: 'deleteCustomAttribute',
  method: 'DELETE',
  path: `${customPath}/{custom_attribute_id}`,
  about: 'Deletes a custom attribute with its values of all users.',
  params: ofCustom,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params, audit }, services: Services) {
    const { portal, records } = services;
    audit(String(params.custom_attribute_id));
    await records.write(async () => {
      await touchModel(params.extended_attribute_id, services);
      const { custom } = portal.attributes;
      const found = requireOfModel(await custom.lock(params.custom_attribute_id), params.extended_attribute_id);
      await custom.remove(found.ID);
    });
    return okStatus;
  },
});

export const listDefaultAttributes = operation({
  ...declared,
  name: 'listDefaultAttributes',
  method: 'GET',
  path: defaultPath,
  about: 'Lists the built-in attributes of users that keys can have in their metadata.',
  params: ofModel,
  query: portalPageQuery,
  returns: z.array(DefaultAttributeView),
  problems: [problem.not_found],
  async handle({ params, query }, services: Services) {
    return paginate((await requireModel(params.extended_attribute_id, services)).Defaults, query);
  },
});

export const getDefaultAttribute = operation({
  ...declared,
  name: 'getDefaultAttribute',
  method: 'GET',
  path: `${defaultPath}/{default_attribute_id}`,
  about: 'Returns a built-in attribute.',
  params: ofDefault,
  returns: DefaultAttributeView,
  problems: [problem.not_found],
  async handle({ params }, services: Services) {
    const { Defaults } = await requireModel(params.extended_attribute_id, services);
    return present(
      Defaults.find(({ ID }) => ID === params.default_attribute_id),
      'Default attribute',
    );
  },
});

export const updateDefaultAttribute = operation({
  ...declared,
  name: 'updateDefaultAttribute',
  method: 'PUT',
  path: `${defaultPath}/{default_attribute_id}`,
  about: 'Adds a built-in attribute to the metadata of new keys, or leaves it out.',
  params: ofDefault,
  body: DefaultAttributeChange,
  returns: DefaultAttributeView,
  problems: [problem.unknown],
  async handle({ params, body, audit }, { portal, clock }: Services) {
    const id = params.default_attribute_id;
    audit(String(id));
    const changed = await portal.attributes.models.change(params.extended_attribute_id, it => ({
      ...it,
      Defaults: it.Defaults.map(each => (each.ID === id ? { ...each, AddToKeyMetadata: body.AddToKeyMetadata } : each)),
      UpdatedAt: clock.now(),
    }));
    const { Defaults } = present(changed, 'Extended attribute', 'unknown');
    return present(
      Defaults.find(({ ID }) => ID === id),
      'Default attribute',
      'unknown',
    );
  },
});

export const attributeOperations = [
  listExtendedAttributes,
  getExtendedAttribute,
  listCustomAttributes,
  createCustomAttribute,
  getCustomAttribute,
  updateCustomAttribute,
  deleteCustomAttribute,
  listDefaultAttributes,
  getDefaultAttribute,
  updateDefaultAttribute,
];
