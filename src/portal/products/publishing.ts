import { createSortableId } from '#base/ids.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import type { PortalServices } from '../portal-stores.ts';
import { callProvider } from '../providers/provider-client.ts';
import type { StoredProvider } from '../providers/schema.ts';
import { buildApiDetails, createProductPolicy, fromProductPolicy, updateProductPolicy } from './policy.ts';
import { type ApiDetail, lastSpecIdOf, type ProductChange, type StoredProduct, type StoredSpec } from './schema.ts';

/** Publishing: from a request body to a product and its access policy. */
type Services = Pick<PortalServices, 'portal' | 'controlPlane' | 'clock'>;

/** Applies a body to a product and checks its APIs with the provider; writes nothing. */
export async function applyProductChange(
  before: StoredProduct,
  body: ProductChange,
  services: Services,
): Promise<StoredProduct> {
  const ProviderID = body.ProviderID || before.ProviderID;
  if (before.ReferenceID !== '' && ProviderID !== before.ProviderID)
    throw createInvalidProblem([
      { path: 'ProviderID', message: 'cannot be changed: the product belongs to its provider' },
    ]);
  if (body.IsDocumentationOnly && before.ID === 0 && body.APIDetails?.length)
    throw createInvalidProblem([{ path: 'APIDetails', message: 'must be empty when IsDocumentationOnly is true' }]);
  const APIDetails = await resolveApiDetails(before, ProviderID, body, services);
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
    APIDetails,
    ...buildSpecs(before, body, services.clock.now()),
  };
}

type ApiDetailWrites = NonNullable<ProductChange['APIDetails']>;

async function resolveApiDetails(before: StoredProduct, providerId: number, body: ProductChange, services: Services) {
  if (body.APIDetails === undefined && providerId === before.ProviderID) return before.APIDetails;
  const writes = body.APIDetails ?? [];
  const provider = providerId === 0 ? undefined : await services.portal.providers.get(providerId);
  if (!provider && (writes.length > 0 || providerId !== 0))
    throw createInvalidProblem([
      { path: 'ProviderID', message: providerId ? `there is no provider ${providerId}` : 'is required' },
    ]);
  return provider ? fetchApiDetails(provider, writes, before.APIDetails, services) : [];
}

/** Fetches the APIs of a body from the provider; unknown ones are refused. */
async function fetchApiDetails(
  provider: StoredProvider,
  writes: ApiDetailWrites,
  existing: readonly ApiDetail[],
  services: Services,
): Promise<ApiDetail[]> {
  const ids = [...new Set(writes.map(({ APIID }) => APIID))];
  if (ids.length === 0) return [];
  const facts = await callProvider(provider, services, plane => plane.apis(ids));
  const missing = writes.flatMap(({ APIID }, place) =>
    facts.has(APIID) || existing.some(detail => detail.APIID === APIID)
      ? []
      : [{ path: `APIDetails[${place}].APIID`, message: `provider ${provider.Name} has no API ${APIID}` }],
  );
  if (missing.length > 0) throw createInvalidProblem(missing);
  return buildApiDetails(
    ids,
    facts,
    ids.map(id => mergeApiTexts(id, writes, existing)),
  );
}

function mergeApiTexts(APIID: string, writes: ApiDetailWrites, existing: readonly ApiDetail[]) {
  const write = writes.find(it => it.APIID === APIID);
  const previous = existing.find(it => it.APIID === APIID);
  return {
    APIID,
    Description: write?.Description ?? previous?.Description ?? '',
    OASUrl: write?.OASUrl ?? previous?.OASUrl ?? '',
    ...(previous?.ChosenName && { ChosenName: previous.ChosenName }),
  };
}

/** Three-way merge under the row lock: members that the request did not change are those of concurrent requests. */
export function mergeProductChange(
  current: StoredProduct,
  { before, after, body }: { before: StoredProduct; after: StoredProduct; body: ProductChange },
  nowMs: number,
): StoredProduct {
  const changed = Object.entries(after).filter(([name, value]) => value !== before[name as keyof StoredProduct]);
  const details = after.APIDetails.map(({ ChosenName: _name, ...detail }) => ({
    ...detail,
    ...mergeApiTexts(detail.APIID, body.APIDetails ?? [], current.APIDetails),
  }));
  return {
    ...current,
    ...Object.fromEntries(changed),
    ...(after.APIDetails !== before.APIDetails && { APIDetails: details }),
    ...buildSpecs(current, body, nowMs),
    UpdatedAt: nowMs,
  };
}

function buildSpecs(
  before: StoredProduct,
  { SpecDetails }: ProductChange,
  nowMs: number,
): Pick<StoredProduct, 'SpecDetails' | 'LastSpecID'> {
  if (SpecDetails === undefined) return { SpecDetails: before.SpecDetails };
  let last = lastSpecIdOf(before);
  const specs: StoredSpec[] = (SpecDetails ?? []).map(({ SpecAlias, OASUrl, Name }) => {
    const previous = before.SpecDetails.find(spec => spec.SpecAlias === SpecAlias);
    return {
      ID: previous?.ID ?? ++last,
      CID: previous?.CID ?? createSortableId(nowMs),
      SpecAlias,
      OASUrl: OASUrl ?? previous?.OASUrl ?? '',
      Name: Name ?? previous?.Name ?? '',
      DocumentationType: previous?.DocumentationType ?? 'OAS',
    };
  });
  return { SpecDetails: specs, LastSpecID: last };
}

/** Creates the access policy of a product with APIs, then saves; the policy is deleted when saving fails. */
export async function publishAtProvider(
  product: StoredProduct,
  services: Services,
  save: (product: StoredProduct) => Promise<StoredProduct>,
): Promise<StoredProduct> {
  const provider = product.APIDetails.length > 0 ? await services.portal.providers.get(product.ProviderID) : undefined;
  if (!provider) return save(product);
  const policy = createProductPolicy(product, provider.MetaData.PoliciesTags);
  const stored = fromProductPolicy(await callProvider(provider, services, plane => plane.createPolicy(policy)));
  try {
    return await save({ ...product, ...stored });
  } catch (error) {
    await callProvider(provider, services, plane => plane.deletePolicy(stored.ReferenceID));
    throw error;
  }
}

const policyFingerprint = ({ Name, APIDetails }: StoredProduct) =>
  JSON.stringify([Name, APIDetails.map(({ APIID }) => APIID)]);

/** Updates name and APIs in the access policy, where they changed. */
export async function updateAtProvider(
  product: StoredProduct,
  before: StoredProduct,
  services: Services,
): Promise<StoredProduct> {
  if (policyFingerprint(product) === policyFingerprint(before)) return product;
  const provider = await services.portal.providers.get(product.ProviderID);
  if (!provider) return product;
  const change = updateProductPolicy(product);
  const policy = await callProvider(provider, services, plane => plane.updatePolicy(product.ReferenceID, change));
  return { ...product, ...fromProductPolicy(policy) };
}
