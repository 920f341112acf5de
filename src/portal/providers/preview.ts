import { z } from 'zod';
import { policyIdOf } from '#access/policies/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { type StoredProvider, type SyncCounts, SyncCountsView } from './schema.ts';
import { countChange, type FetchedOffer, fetchOffer, matchByPolicy, readPlan, readProduct } from './synchronize.ts';

/** Changes and conflicts of a preview; the counts have all. */
const maxPreviewItems = 200;

const kind = z.enum(['product', 'plan']);
const PreviewChange = z.object({
  Kind: kind,
  Change: z.enum(['added', 'changed', 'hidden']),
  ID: z.int().describe('Number of the product or plan; 0 for an added one'),
  Name: z.string(),
  Members: z.array(z.string()).describe('Members that change'),
});
const PreviewConflict = z.object({
  Kind: z.enum([...kind.options, 'policy']),
  Name: z.string(),
  Reason: z
    .enum(['not_imported', 'api_missing', 'name_taken', 'in_use'])
    .describe(
      'The policy sets access and limits, or neither; it names APIs that do not exist; another product or plan has the name; access requests use what is hidden',
    ),
  Detail: z.string().describe('Ids of the missing APIs, or number of the access requests'),
});
export const SyncPreview = z.object({
  Products: SyncCountsView,
  Plans: SyncCountsView,
  Changes: z.array(PreviewChange).describe(`The first ${maxPreviewItems}`),
  Conflicts: z.array(PreviewConflict).describe(`The first ${maxPreviewItems}`),
});

type PreviewChange = z.output<typeof PreviewChange>;
type PreviewConflict = z.output<typeof PreviewConflict>;
type Kind = z.output<typeof kind>;
interface Offered {
  readonly ID: number;
  readonly Name: string;
  readonly ReferenceID: string;
  readonly Hidden: boolean;
}

/** Computes what a synchronisation would do, with the same comparison; nothing is stored, nor is the provider's status. */
export async function previewSync(
  provider: StoredProvider,
  { portal, controlPlane }: Pick<PortalServices, 'portal' | 'controlPlane'>,
): Promise<z.output<typeof SyncPreview>> {
  const fetched = await fetchOffer(provider, controlPlane(provider));
  const [allProducts, allPlans] = [await portal.products.all(), await portal.plans.all()];
  const requests = await portal.accessRequests.listLive({ provider_id: provider.ID });
  const isOwn = (it: { ProviderID: number }) => it.ProviderID === provider.ID;
  const products = matchByPolicy(allProducts.filter(isOwn), fetched.products);
  const plans = matchByPolicy(allPlans.filter(isOwn), fetched.plans);
  const found = [
    compare('product', products, (policy, doc) => readProduct(policy, fetched.apis, doc)),
    compare('plan', plans, policy => readPlan(policy)),
  ] as const;
  const changes = found.flatMap(it => it.changes);
  const countRequests = ({ Kind: of, ID }: PreviewChange) =>
    requests.filter(it => (of === 'plan' ? it.PlanID === ID : it.ProductIDs.includes(ID))).length;
  const conflicts = [
    ...listPolicyConflicts(fetched),
    ...listTakenNames('product', changes, allProducts),
    ...listTakenNames('plan', changes, allPlans),
    ...listUsed(changes, countRequests),
  ];
  return {
    Products: found[0].counts,
    Plans: found[1].counts,
    Changes: changes.slice(0, maxPreviewItems),
    Conflicts: conflicts.slice(0, maxPreviewItems),
  };
}

type Matched<Doc extends Offered> = ReturnType<typeof matchByPolicy<Doc>>;
type MatchedPolicy = Matched<Offered>['fresh'][number];

function compare<Doc extends Offered>(
  Kind: Kind,
  { existing, fresh }: Matched<Doc>,
  read: (policy: MatchedPolicy, doc: Doc) => object,
): { readonly changes: PreviewChange[]; readonly counts: SyncCounts } {
  const counts: SyncCounts = { Added: fresh.length, Changed: 0, Hidden: 0 };
  const changes: PreviewChange[] = fresh.map(policy => ({
    ...{ Kind, Change: 'added', ID: 0, Name: policy.name ?? policyIdOf(policy), Members: [] },
  }));
  for (const { doc, policy } of existing) {
    const after = { ...doc, ...(policy ? read(policy, doc) : { Hidden: true }) };
    const Members = (Object.keys(after) as (keyof Doc & string)[]).filter(
      name => JSON.stringify(after[name]) !== JSON.stringify(doc[name]),
    );
    if (Members.length === 0) continue;
    countChange(counts, doc, after);
    const Change = after.Hidden && !doc.Hidden ? 'hidden' : 'changed';
    changes.push({ Kind, Change, ID: doc.ID, Name: doc.Name, Members });
  }
  return { changes, counts };
}

function listPolicyConflicts({ others, products, apis }: FetchedOffer): PreviewConflict[] {
  const skipped = others.map(policy => ({
    ...{
      Kind: 'policy' as const,
      Name: policy.name ?? policyIdOf(policy),
      Reason: 'not_imported' as const,
      Detail: '',
    },
  }));
  const incomplete = products.flatMap(policy => {
    const missing = Object.keys(policy.access_rights ?? {}).filter(id => !apis.has(id));
    const Name = policy.name ?? policyIdOf(policy);
    return missing.length === 0
      ? []
      : [{ Kind: 'product' as const, Name, Reason: 'api_missing' as const, Detail: missing.join(', ').slice(0, 1000) }];
  });
  return [...skipped, ...incomplete];
}

function listTakenNames(Kind: Kind, changes: readonly PreviewChange[], stored: readonly Offered[]): PreviewConflict[] {
  const names = new Set(stored.map(it => it.Name));
  return changes
    .filter(it => it.Kind === Kind && it.Change === 'added' && names.has(it.Name))
    .map(({ Name }) => ({ Kind, Name, Reason: 'name_taken', Detail: '' }));
}

function listUsed(changes: readonly PreviewChange[], count: (change: PreviewChange) => number): PreviewConflict[] {
  return changes.flatMap(change => {
    const requests = change.Change === 'hidden' ? count(change) : 0;
    const { Kind: of, Name } = change;
    return requests === 0 ? [] : [{ Kind: of, Name, Reason: 'in_use' as const, Detail: String(requests) }];
  });
}
