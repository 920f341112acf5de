import { z } from 'zod';
import { type Clock, formatIsoTime } from '#base/clock.ts';
import { createDatabaseId } from '#base/ids.ts';
import { redactedText } from '#base/redaction.ts';
import { mapSecrets } from '#definition/secret-places.ts';
import { type Actor, hasPermission } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { problem } from './problems.ts';
import { type Asset, AssetView, AssetWrite, assetCreated, assetKinds, defaultAssetKind } from './schema.ts';
import type { AssetStore } from './store.ts';

export interface AssetServices {
  assets: AssetStore;
  clock: Clock;
}

const declared = { surface: 'dashboard', noun: 'assets' } as const;
const params = z.object({ assetId: z.string().describe('Custom id or database id of the asset') });
const toResult = (message: string, { _id, id }: Asset) => ({ Status: 'success', Message: message, Meta: _id, ID: id });

/** Secret masking: without permission to write templates, a reader sees a mask in place of each secret. */
export function toAssetView({ created_at_ms: _at, ...asset }: Asset, actor: Actor): z.output<typeof AssetView> {
  if (hasPermission(actor, 'api_assets:write')) return { ...asset, data: { ...asset.data } };
  return { ...asset, data: mapSecrets<Record<string, unknown>>('oas', asset.data, () => redactedText) };
}

export function ensureKind(kind: string): void {
  if (!assetKinds.includes(kind)) throw problem.kind_unknown({ detail: { kind } });
}

export const listAssets = operation({
  ...declared,
  name: 'listAssets',
  method: 'GET',
  path: '/api/assets',
  about: 'Lists the templates of the caller’s organisation, oldest first.',
  permission: 'api_assets:read',
  query: z.object({ kind: z.string().max(100).default(defaultAssetKind).describe('Kind of asset: oas-template') }),
  returns: z.array(AssetView),
  problems: [problem.kind_not_listed],
  async handle({ actor, query: { kind } }, { assets }: Pick<AssetServices, 'assets'>) {
    if (!assetKinds.includes(kind)) throw problem.kind_not_listed({ detail: { kind } });
    return (await assets.list(actor.orgId, kind)).map(asset => toAssetView(asset, actor));
  },
});

export const createAsset = operation({
  ...declared,
  name: 'createAsset',
  isRepeatable: true,
  method: 'POST',
  path: '/api/assets',
  about: 'Creates a template: part of an OpenAPI document as the base of new APIs. It need not be a valid document.',
  permission: 'api_assets:write',
  status: 201,
  body: AssetWrite,
  returns: assetCreated,
  problems: [problem.kind_unknown, problem.asset_exists, problem.too_many_assets],
  async handle({ actor, body, audit }, { assets, clock }: AssetServices) {
    ensureKind(body.kind);
    const _id = createDatabaseId();
    const nowMs = clock.now();
    const stamps = { created_at_ms: nowMs, last_updated: formatIsoTime(nowMs) };
    const asset: Asset = { ...body, _id, id: body.id || _id, org_id: actor.orgId, ...stamps };
    audit(asset.id);
    await assets.insert(asset);
    return toResult('asset created', asset);
  },
});

export const getAsset = operation({
  ...declared,
  name: 'getAsset',
  versioned: 'assets',
  method: 'GET',
  path: '/api/assets/{assetId}',
  about: 'Returns a template.',
  permission: 'api_assets:read',
  params,
  returns: AssetView,
  problems: [problem.asset_not_found],
  async handle({ actor, params: { assetId } }, { assets }: Pick<AssetServices, 'assets'>) {
    const asset = await assets.get(actor.orgId, assetId);
    if (!asset) throw problem.asset_not_found();
    return toAssetView(asset, actor);
  },
});

export const updateAsset = operation({
  ...declared,
  name: 'updateAsset',
  versioned: 'assets',
  method: 'PUT',
  path: '/api/assets/{assetId}',
  about: 'Replaces a template. APIs created from it do not change.',
  permission: 'api_assets:write',
  params,
  body: AssetWrite,
  returns: assetCreated,
  problems: [problem.asset_not_found, problem.kind_unknown, problem.asset_exists],
  async handle({ actor, params: { assetId }, body, audit }, { assets, clock }: AssetServices) {
    audit(assetId);
    ensureKind(body.kind);
    const last_updated = formatIsoTime(clock.now());
    const asset = await assets.change(actor.orgId, assetId, before => ({
      ...before,
      ...body,
      id: body.id || before.id,
      last_updated,
    }));
    if (!asset) throw problem.asset_not_found();
    return toResult('asset updated', asset);
  },
});

export const deleteAsset = operation({
  ...declared,
  name: 'deleteAsset',
  versioned: 'assets',
  method: 'DELETE',
  path: '/api/assets/{assetId}',
  about: 'Deletes a template. APIs created from it do not change.',
  permission: 'api_assets:write',
  params,
  returns: assetCreated,
  problems: [problem.asset_not_found],
  async handle({ actor, params: { assetId }, audit }, { assets }: Pick<AssetServices, 'assets'>) {
    audit(assetId);
    const asset = await assets.remove(actor.orgId, assetId);
    if (!asset) throw problem.asset_not_found();
    return toResult('Asset removed successfully', asset);
  },
});

export const assetOperations = [listAssets, createAsset, getAsset, updateAsset, deleteAsset];
