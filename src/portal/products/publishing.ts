import { createSortableId } from '#base/ids.ts';
import { invalid } from '#operations/validation-error.ts';
import type { PortalTools } from '../portal-stores.ts';
import { reach } from '../providers/provider-client.ts';
import type { StoredProvider } from '../providers/schema.ts';
import { changedProductPolicy, detailsOf, fromPolicy, newProductPolicy } from './policy.ts';
import type { ApiDetail, ProductChange, SpecDetail, StoredProduct } from './schema.ts';

/** From what a body says to a product and its access policy. */
type Tools = Pick<PortalTools, 'portal' | 'controlPlane' | 'clock'>;

/** The product as the body wants it, checked against the provider; nothing is written yet. */
export async function writtenProduct(before: StoredProduct, body: ProductChange, tools: Tools): Promise<StoredProduct> {
  const ProviderID = body.ProviderID || before.ProviderID;
  if (before.ReferenceID !== '' && ProviderID !== before.ProviderID)
    throw invalid([{ path: 'ProviderID', message: 'cannot be changed: the product belongs to its provider' }]);
  if (body.IsDocumentationOnly && before.ID === 0 && body.APIDetails?.length)
    throw invalid([{ path: 'APIDetails', message: 'must be empty when IsDocumentationOnly is true' }]);
  const APIDetails = await apiDetails(before, ProviderID, body, tools);
  return {
    ...before,
    Name: body.Name ?? before.Name,
    DisplayName: body.DisplayName ?? before.DisplayName,
    Path: body.Path ?? before.Path,
    ProviderID,
    DCREnabled: body.DCREnabled ?? before.DCREnabled,
    Feature: body.Feature ?? before.Feature,
    Scopes: body.Scopes ?? before.Scopes,
    Description: body.Description ?? before.Description,
    Content: body.Content ?? before.Content,
    Tags: body.Tags === undefined ? before.Tags : [...new Set(body.Tags ?? [])],
    APIDetails,
    SpecDetails: specDetails(before, body, tools.clock.now()),
  };
}

type Asked = NonNullable<ProductChange['APIDetails']>;

async function apiDetails(before: StoredProduct, providerId: number, body: ProductChange, tools: Tools) {
  if (body.APIDetails === undefined && providerId === before.ProviderID) return before.APIDetails;
  const asked = body.APIDetails ?? [];
  const provider = providerId === 0 ? undefined : await tools.portal.providers.get(providerId);
  if (!provider && (asked.length > 0 || providerId !== 0))
    throw invalid([{ path: 'ProviderID', message: providerId ? `there is no provider ${providerId}` : 'is required' }]);
  return provider ? factualDetails(provider, asked, before.APIDetails, tools) : [];
}

/** The APIs a body names, as the provider knows them; one it does not have is refused. */
async function factualDetails(
  provider: StoredProvider,
  asked: Asked,
  known: readonly ApiDetail[],
  tools: Tools,
): Promise<ApiDetail[]> {
  const ids = [...new Set(asked.map(({ APIID }) => APIID))];
  if (ids.length === 0) return [];
  const facts = await reach(provider, tools, plane => plane.apis(ids));
  const missing = asked.flatMap(({ APIID }, place) =>
    facts.has(APIID) || known.some(detail => detail.APIID === APIID)
      ? []
      : [{ path: `APIDetails[${place}].APIID`, message: `provider ${provider.Name} has no API ${APIID}` }],
  );
  if (missing.length > 0) throw invalid(missing);
  const texts = ids.map(APIID => {
    const given = asked.find(it => it.APIID === APIID);
    const had = known.find(it => it.APIID === APIID);
    return {
      APIID,
      Description: given?.Description ?? had?.Description ?? '',
      OASUrl: given?.OASUrl ?? had?.OASUrl ?? '',
    };
  });
  return detailsOf(ids, facts, texts);
}

function specDetails(before: StoredProduct, { SpecDetails }: ProductChange, nowMs: number): SpecDetail[] {
  if (SpecDetails === undefined) return before.SpecDetails;
  let last = Math.max(0, ...before.SpecDetails.map(({ ID }) => ID));
  return (SpecDetails ?? []).map(({ SpecAlias, OASUrl, Name }) => {
    const had = before.SpecDetails.find(spec => spec.SpecAlias === SpecAlias);
    return {
      ID: had?.ID ?? ++last,
      CID: had?.CID ?? createSortableId(nowMs),
      SpecAlias,
      OASUrl: OASUrl ?? had?.OASUrl ?? '',
      Name: Name ?? had?.Name ?? '',
    };
  });
}

/** Makes the access policy of a product that has APIs but none yet, and keeps it; what nobody kept is taken back. */
export async function publishedAtProvider(
  product: StoredProduct,
  tools: Tools,
  keep: (product: StoredProduct) => Promise<StoredProduct>,
): Promise<StoredProduct> {
  const provider = product.APIDetails.length > 0 ? await tools.portal.providers.get(product.ProviderID) : undefined;
  if (!provider) return keep(product);
  const policy = newProductPolicy(product, provider.MetaData.PoliciesTags);
  const stored = fromPolicy(await reach(provider, tools, plane => plane.createPolicy(policy)));
  try {
    return await keep({ ...product, ...stored });
  } catch (error) {
    await reach(provider, tools, plane => plane.deletePolicy(stored.ReferenceID));
    throw error;
  }
}

const granted = ({ Name, APIDetails }: StoredProduct) => JSON.stringify([Name, APIDetails.map(({ APIID }) => APIID)]);

/** Brings name and APIs of a product into its access policy, where they differ. */
export async function changedAtProvider(
  product: StoredProduct,
  before: StoredProduct,
  tools: Tools,
): Promise<StoredProduct> {
  if (granted(product) === granted(before)) return product;
  const provider = await tools.portal.providers.get(product.ProviderID);
  if (!provider) return product;
  const change = changedProductPolicy(product);
  const policy = await reach(provider, tools, plane => plane.updatePolicy(product.ReferenceID, change));
  return { ...product, ...fromPolicy(policy) };
}
