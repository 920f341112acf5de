import { type SqlBool, sql } from 'kysely';
import type { Vault } from '#base/vault.ts';
import { createCollection, type Query } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import type { RevisionLog } from '#storage/revision-log.ts';
import { problem } from './problems.ts';
import type { Asset } from './schema.ts';

export type AssetStore = ReturnType<typeof createAssetStore>;

type AssetRow = Omit<Asset, 'data'> & { readonly sealed_data: string };

/** Bounds the templates of an organisation: lists of them have no pages. */
export const maxAssetsPerOrganisation = 1000;

const purpose = 'asset data';

/** Rows of templates: the data is sealed as a whole, since it may hold secrets wherever a definition may. */
function createAssetCodec(vault: Vault) {
  return {
    encode: ({ data, ...asset }: Asset): AssetRow => ({
      ...asset,
      sealed_data: vault.seal(JSON.stringify(data), purpose),
    }),
    decode(row: unknown): Asset {
      const { sealed_data, ...asset } = row as AssetRow;
      return { ...asset, data: JSON.parse(vault.open(sealed_data, purpose)) };
    },
  };
}

const createAssetHistory = (revisions: RevisionLog, open: (row: unknown) => Asset) =>
  revisions.createHistory<Asset>({
    table: 'assets',
    identify: ({ org_id, id, name }) => ({ orgId: String(org_id), publicId: String(id), name: String(name ?? '') }),
    open,
    ignored: ['last_updated'],
  });

/** Template store, with sealed data. */
export function createAssetStore(records: Records, vault: Vault, revisions?: RevisionLog) {
  const codec = createAssetCodec(vault);
  const history = revisions && createAssetHistory(revisions, codec.decode);
  const assets = createCollection<'assets', Asset>(
    records,
    'assets',
    it => ({ id: it._id, org_id: it.org_id, asset_id: it.id, kind: it.kind, created_at: it.created_at_ms }),
    problem.asset_exists,
    codec,
    { kind: 'templates', toEntry: ({ name, id }) => ({ names: [name, id], label: name, detail: id }) },
    history?.recordChange,
  );
  const get = async (orgId: string, ref: string) =>
    (await assets.find({ org_id: orgId, id: ref })) ?? assets.find({ org_id: orgId, asset_id: ref });

  /** References accept both kinds of id, so a chosen id may not equal the database id of another template. */
  async function ensureIdFree({ _id, id, org_id }: Asset): Promise<void> {
    const filter = (query: Query) => query.where(sql<SqlBool>`(id = ${id} or asset_id = ${id})`);
    const found = await assets.all({ where: { org_id }, filter, order: ['id'] });
    if (found.some(other => other._id !== _id)) throw problem.asset_exists();
  }

  return {
    history,
    /** Finds by database id or chosen id. */
    get,
    list: (orgId: string, kind: string) => assets.all({ where: { org_id: orgId, kind }, order: ['created_at', 'id'] }),
    count: (orgId: string) => assets.count({ org_id: orgId }),
    insert: (asset: Asset) =>
      records.write(async () => {
        if ((await assets.count({ org_id: asset.org_id })) >= maxAssetsPerOrganisation)
          throw problem.too_many_assets({ detail: { maxAssets: maxAssetsPerOrganisation } });
        await ensureIdFree(asset);
        await assets.insert(asset);
      }),
    /** Read-modify-write; undefined where there is none. */
    change: (orgId: string, ref: string, change: (before: Asset) => Asset) =>
      records.write(async () => {
        const found = await get(orgId, ref);
        if (!found) return undefined;
        return assets.change({ id: found._id }, async before => {
          const next = change(before);
          await ensureIdFree(next);
          return next;
        });
      }),
    remove: async (orgId: string, ref: string): Promise<Asset | undefined> => {
      const found = await get(orgId, ref);
      return found && (await assets.remove({ org_id: orgId, id: found._id })) ? found : undefined;
    },
  };
}
