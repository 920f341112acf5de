import { formatIsoTime } from '#base/clock.ts';
import { redactedText } from '#base/redaction.ts';
import { mapSecrets } from '#definition/secret-places.ts';
import { declareRevisionOperations, type RestoreCall, type RevisionServices } from '#operations/revision-operations.ts';
import { validate } from '#operations/validation-error.ts';
import { type AssetServices, ensureKind, toAssetView } from './operations.ts';
import { problem } from './problems.ts';
import { type Asset, AssetWrite } from './schema.ts';

const toAssetWrite = ({ id, kind, name, description, data }: Asset) => ({ id, kind, name, description, data });

/** Restores a template by the rules of an update; a removed one gets its ids again. */
async function restoreAsset(
  { actor, state, objectId, isExisting }: RestoreCall<Asset>,
  { assets, clock }: AssetServices,
): Promise<void> {
  const written = validate(AssetWrite, toAssetWrite(state));
  ensureKind(written.kind);
  const last_updated = formatIsoTime(clock.now());
  if (!isExisting) return assets.insert({ ...state, ...written, org_id: actor.orgId, last_updated });
  const restored = await assets.change(actor.orgId, objectId, before => ({ ...before, ...written, last_updated }));
  if (!restored) throw problem.asset_not_found();
}

export const assetRevisionOperations = declareRevisionOperations<
  Asset,
  AssetServices & RevisionServices,
  'assets',
  'assetId'
>({
  singular: 'Asset',
  plural: 'assets',
  param: 'assetId',
  noun: 'assets',
  article: 'a template',
  permissionName: 'api_assets',
  notFound: problem.asset_not_found,
  problems: [problem.asset_exists, problem.too_many_assets],
  history: ({ assets }) => assets.history,
  toView: ({ created_at_ms: _at, last_updated: _time, ...state }) => state,
  toViewFor: async actor => state => toAssetView(state, actor),
  toName: state => state.name,
  isExisting: async (orgId, objectId, { assets }) => (await assets.get(orgId, objectId))?._id === objectId,
  toPlainWrite: ({ state, isExisting }) => ({
    operation: isExisting ? 'updateAsset' : 'createAsset',
    method: isExisting ? 'PUT' : 'POST',
    path: isExisting ? `/api/assets/${state._id}` : '/api/assets',
    body: { ...toAssetWrite(state), data: mapSecrets('oas', state.data, () => redactedText) },
  }),
  restore: restoreAsset,
});
