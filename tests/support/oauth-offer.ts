import { createPublicId } from '#base/ids.ts';
import type { TestApp } from './app.ts';
import { addApi, addApp, addPlan, addProduct, requestPortal, toFileForm } from './portal.ts';
import type { RegisteringProvider } from './registering-provider.ts';
import { waitUntilApplied } from './traffic.ts';
import type { Upstream } from './upstream.ts';

const document = {
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1' },
  paths: { '/orders': { get: { operationId: 'listOrders', responses: {} } } },
};

export const ownRedirectUrl = 'https://shop.example/back';

/** Number of a client type for public clients, whose users sign in with PKCE. */
export async function addBrowserClientType(app: TestApp, idp: RegisteringProvider): Promise<number> {
  const { ID } = await requestPortal(app, 'POST', '/portal-api/oauth-providers', {
    ...{ Name: 'Main', Type: 'Other', WellKnownURL: idp.discoverUrl, RegistrationAccessToken: idp.initialToken },
  });
  const type = { Name: 'Browser', GrantType: 'pkce', ResponseTypes: 'code' };
  return (await requestPortal(app, 'POST', `/portal-api/oauth-providers/${ID}/client-types`, type)).ID;
}

/** A product with a reference, whose scopes are `orders` and `gold`, and an app of the user with a client for it. */
export async function addOauthOffer(app: TestApp, upstream: Upstream, typeId: number, user: { readonly ID: number }) {
  const name = `api-${createPublicId()}`;
  const proxy = { listen_path: `/${name}/`, target_url: upstream.url, strip_listen_path: true };
  const jwt = { use_standard_auth: false, enable_jwt: true, jwt_signing_method: 'rsa' };
  const APIID = await addApi(app, name, { proxy, ...jwt });
  const dcr = { DCREnabled: true, Scopes: 'orders', Templates: [typeId] };
  const { ID, Path } = await addProduct(app, { APIDetails: [{ APIID }], Catalogues: [1], ...dcr });
  const body = toFileForm(JSON.stringify(document));
  await app.ask('POST', `/portal-api/products/${ID}/api-details/${APIID}/oas`, { body });
  const { ID: appId } = await addApp(app, { UserID: user.ID });
  const { ID: PlanID } = await addPlan(app, { JWTScope: 'gold' });
  const wanted = { PlanID, ProductIDs: [ID], RedirectURLs: ownRedirectUrl, ProvisionImmediately: true };
  const { AccessRequestID } = await requestPortal(app, 'PUT', `/portal-api/apps/${appId}/provision`, wanted);
  const { Credentials } = await requestPortal(app, 'GET', `/portal-api/access_requests/${AccessRequestID}`);
  await waitUntilApplied(app);
  const [credential] = Credentials as { ID: number; OAuthClientID: string }[];
  const fields = { product: Path as string, api: APIID, operation: 'listorders', credential: String(credential!.ID) };
  const page = `/portal/catalogue-products/${Path}/${APIID}/docs/listorders`;
  return { appId: appId as number, credential: credential!, fields, page };
}
