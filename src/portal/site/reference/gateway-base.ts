import { gatewayUrl } from '#apis/api/api-address.ts';
import { defaultCredentialHeader } from '#definition/credential-header.ts';
import type { StoredProduct } from '../../products/schema.ts';
import type { SiteServices } from '../page.ts';

/** Base URL of the gateway of a product. */
export interface GatewayBase {
  readonly url: string;
  /** False for a remote provider without a gateway address: the one in samples is a placeholder then. */
  readonly isKnown: boolean;
}

/** Header in which an API of a product wants its credential. */
export const getAuthHeader = ({ APIDetails }: StoredProduct, apiId: string): string =>
  APIDetails.find(({ APIID }) => APIID === apiId)?.AuthHeader ?? defaultCredentialHeader;

export async function findGatewayBase(
  { ProviderID }: StoredProduct,
  { portal, settings, listGatewayUrls }: Pick<SiteServices, 'portal' | 'settings' | 'listGatewayUrls'>,
): Promise<GatewayBase> {
  const provider = ProviderID > 0 ? await portal.providers.get(ProviderID) : undefined;
  const { Gateway = '', URL: dashboard = '' } = provider?.MetaData ?? {};
  if (Gateway !== '') return { url: Gateway, isKnown: true };
  if (!provider || dashboard !== '') return { url: gatewayUrl(settings).href, isKnown: false };
  const listener = settings['gateway.url'] === '' ? listGatewayUrls().find(it => it.isListener) : undefined;
  return { url: listener?.url ?? gatewayUrl(settings).href, isKnown: true };
}
