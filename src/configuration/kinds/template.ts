import { createAsset, deleteAsset, updateAsset } from '#apis/assets/operations.ts';
import { type Asset, AssetWrite, defaultAssetKind } from '#apis/assets/schema.ts';
import { redactedText } from '#base/redaction.ts';
import { mapSecrets } from '#definition/secret-places.ts';
import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';
import { type CheckInput, callOperation, checkSpec, type Kind, type RunContext } from '../kind.ts';
import { sortById } from '../sort-by-id.ts';

const TemplateSpec = AssetWrite.pick({ kind: true, name: true, description: true, data: true });

const toStoredObject = ({ id, kind, name, description, data, ...asset }: Asset) => ({
  id,
  spec: { kind, name, description, data },
  source: { id, kind, name, description, data, ...asset },
});

/** Puts stored secrets in place of masks. */
function restoreData(data: Asset['data'], stored: Asset['data'] | undefined): Asset['data'] {
  const secrets = new Map<string, string>();
  if (stored)
    mapSecrets('oas', stored, (value, path) => {
      secrets.set(path, value);
      return value;
    });
  const errors: ValidationError[] = [];
  const restored = mapSecrets('oas', data, (value, path) => {
    if (value !== redactedText) return value;
    const secret = secrets.get(path);
    if (secret === undefined)
      errors.push({ path: `data.${path}`, message: `${redactedText} is a masked secret, and none is stored here` });
    return secret ?? value;
  });
  if (errors.length > 0) throw createInvalidProblem(errors);
  return restored;
}

function checkTemplate(context: RunContext, { id, given, before }: CheckInput) {
  const { data, ...spec } = checkSpec(context, TemplateSpec, { id, given });
  return { id, given, spec: { ...spec, data: restoreData(data, (before?.source as Asset | undefined)?.data) } };
}

/** Templates of APIs, by their chosen id. */
export const templateKind: Kind = {
  name: 'template',
  permission: 'api_assets',
  async list({ services, actor }) {
    return sortById((await services.assets.list(actor.orgId, defaultAssetKind)).map(toStoredObject));
  },
  check: checkTemplate,
  mask: spec => ({ ...spec, data: mapSecrets('oas', spec.data, () => redactedText) }),
  create: (context, { id, spec }) => callOperation(context, createAsset, { body: { ...spec, id } }),
  update: (context, { id, spec }, { source }) =>
    callOperation(context, updateAsset, { params: { assetId: (source as Asset)._id }, body: { ...spec, id } }),
  remove: (context, { source }) => callOperation(context, deleteAsset, { params: { assetId: (source as Asset)._id } }),
};
